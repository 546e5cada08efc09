// graphile-worker: makes its schema, adds jobs, runs them, by its own client.
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import { asked, command, say, until_told, work } from "./common.js";

const options = { connectionString: asked.url, logger: new Logger(() => (level, message) => console.error(level, message)) };

async function utils(act) {
  const utils = await makeWorkerUtils(options);
  try {
    return await act(utils);
  } finally {
    await utils.release();
  }
}

const commands = {
  install: () => utils((utils) => utils.migrate()),

  // A job's queue, as a user thinks of it, is its task; a "queue" of the library makes jobs run one after the other.
  async push() {
    const jobs = asked.payloads.map((text) => ({
      identifier: asked.queue,
      payload: { text, fails: asked.fails },
      maxAttempts: asked.attempts,
      ...(asked.serial && { queueName: asked.serial }),
      ...(asked.due_in_s && { runAt: new Date(Date.now() + 1000 * asked.due_in_s) }),
    }));
    say((await utils((utils) => utils.addJobs(jobs))).map((job) => job.id));
  },

  async work() {
    const task = (queue) => (payload, { job }) =>
      work({ queue, id: job.id, worker: job.locked_by }, { payload, attempt: job.attempts, attempts: job.max_attempts });
    const taskList = Object.fromEntries(asked.queues.map((queue) => [queue, task(queue)]));
    const runner = await run({ ...options, taskList, concurrency: 1, noHandleSignals: true, pollInterval: 200 });
    until_told(() => runner.stop());
  },

  prune: () => utils((utils) => utils.cleanup({ tasks: ["DELETE_PERMAFAILED_JOBS", "GC_JOB_QUEUES"] })),
};

await commands[command]();
