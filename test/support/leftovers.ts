/**
 * Finds what a test leaves behind: reserved memory, lingering connections, folders of uploads, and
 * at the end of a file also servers, sockets and timers. The test environment calls it.
 */
import { readdirSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Memory } from '../../packages/spec-first-server/src/http/resources.ts';
import { Lingering } from '../../packages/spec-first-server/src/listener/lingering.ts';

/** The time for a test's last calls and connections to end, in milliseconds. */
const TIMEOUT = 5_000;

const memories = new Set<Memory>();
const lingering = new Set<Lingering>();
const { bytesLeft: limit } = new Memory();

const { reserve } = Memory.prototype;
Memory.prototype.reserve = function (...args) {
  memories.add(this);
  return reserve.apply(this, args);
};

const { add } = Lingering.prototype;
Lingering.prototype.add = function (...args) {
  lingering.add(this);
  return add.apply(this, args);
};

const UPLOADS = `upload-${hostname()}-${process.pid}-`;

/** Yields a description of each thing that is left after a test. */
function* ofTest(): Generator<string> {
  for (const { bytesLeft } of memories) {
    if (bytesLeft !== limit) yield `${limit - bytesLeft} bytes are still reserved`;
  }
  for (const { size } of lingering) if (size > 0) yield `${size} connections still linger`;
  for (const name of readdirSync(tmpdir())) {
    if (name.startsWith(UPLOADS)) yield `the folder ${name} is not removed`;
  }
}

/** The resources that keep a process running, by name. */
function resources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

const before = resources();

/** Yields a description of each thing that is left after all tests of a file. */
function* ofFile(): Generator<string> {
  yield* ofTest();
  for (const [name, count] of resources()) {
    const isChecked = /^(TCP|TLS|UDP|Process)\w*Wrap$|^Timeout$/.test(name);
    const left = count - (before.get(name) ?? 0);
    if (isChecked && left > 0) yield `${left} of ${name} are still active`;
  }
}

/** @throws {Error} if things are left. */
async function check(list: () => Generator<string>): Promise<void> {
  const deadline = performance.now() + TIMEOUT;
  for (;;) {
    const left = [...list()];
    if (left.length === 0) break;
    if (performance.now() > deadline) {
      forget();
      throw new Error(`left behind: ${left.join('; ')}`);
    }
    await delay(10);
  }
  forget();
}

/** Reports things that are left only once. */
function forget(): void {
  memories.clear();
  lingering.clear();
}

Object.assign(globalThis, {
  leftovers: { afterTest: () => check(ofTest), afterFile: () => check(ofFile) },
});
