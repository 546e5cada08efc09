// pg-boss: makes its schema, sends jobs, works on them, counts them, by its own client.
import { PgBoss } from "pg-boss";
import { asked, command, say, until_told, work } from "./common.js";

const boss = new PgBoss({ connectionString: asked.url, supervise: command === "work", schedule: false });
boss.on("error", console.error);
await boss.start();

const commands = {
  async install() {
    await boss.createQueue(asked.dead_letters);
    // One queue has a table of its own and sends its dead jobs on; both retry at once.
    const tries = { retryLimit: asked.attempts - 1, retryDelay: 0 };
    const [plain, own] = asked.queues;
    await boss.createQueue(plain, tries);
    await boss.createQueue(own, { ...tries, partition: true, deadLetter: asked.dead_letters });
  },

  async push() {
    const jobs = asked.payloads.map((text) => ({
      data: { text, fails: asked.fails },
      ...(asked.due_in_s && { startAfter: asked.due_in_s }),
    }));
    say(await boss.insert(asked.queue, jobs, { returnId: true }));
  },

  // One job of the second queue, and two of the first that wait for it, one of them due tomorrow.
  async flow() {
    const [plain, own] = asked.queues;
    const child = { name: plain, dependsOn: ["first"] };
    await boss.flow([
      { ref: "first", name: own, data: { fails: 0 } },
      { ...child, ref: "second", data: { fails: 0 } },
      { ...child, ref: "third", data: { fails: 0 }, options: { startAfter: 86400 } },
    ]);
  },

  async work() {
    // At most one job of each queue at a time; the next one is fetched at once while there are any.
    const options = { batchSize: 1, includeMetadata: true, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true };
    const { id: worker } = (await boss.getInstances()).find((instance) => instance.pid === process.pid && instance.live);
    for (const queue of asked.queues) {
      await boss.work(queue, options, async ([job]) => {
        const tried = { payload: job.data, attempt: job.retryCount + 1, attempts: job.retryLimit + 1 };
        await work({ queue, id: job.id, worker }, tried);
      });
    }
    until_told(() => boss.stop());
  },

  // Its supervisor's whole round with what it prunes, what it finds wrong with its schema, and its counts.
  async check() {
    await boss.supervise();
    say({ drift: await boss.detectSchemaDrift(), queues: await boss.getQueues() });
  },
};

await commands[command]();
if (command !== "work") await boss.stop();
