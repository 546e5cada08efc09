// What both programs share: their one argument (JSON), the application's log, jobs that sleep and fail as they were told.
import { appendFileSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";

export const [, , command, words] = process.argv;
export const asked = JSON.parse(words);

/** Append an event to the application's log, whole and at once. */
export function log(event) {
  appendFileSync(process.env.QMON_TEST_LOG, JSON.stringify({ at: Date.now() / 1000, ...event }) + "\n");
}

/** Print an answer to the test that asked. */
export function say(answer) {
  process.stdout.write(JSON.stringify(answer) + "\n");
}

/** Work on a job: `attempt` is 1 at first, of `attempts` at most; `payload.fails` of them fail, none once a file `mended` lies beside the log. */
export async function work({ queue, id, worker }, { payload, attempt, attempts }) {
  const event = { queue, id, worker };
  log({ ...event, event: "claimed" });
  await setTimeout(1000 * asked.seconds_per_job);
  if (attempt <= payload.fails && !existsSync(join(dirname(process.env.QMON_TEST_LOG), "mended"))) {
    log({ ...event, event: attempt < attempts ? "retried" : "failed" });
    throw new Error(`attempt ${attempt} of ${payload.fails} that fail`);
  }
  log({ ...event, event: "completed" });
}

/** Run a worker until SIGTERM, then let it end cleanly; whoever started it is gone when standard input ends. */
export function until_told(stop) {
  process.once("SIGTERM", () => stop().then(() => process.exit(0)));
  process.stdin.resume().once("end", () => process.exit(1));
}
