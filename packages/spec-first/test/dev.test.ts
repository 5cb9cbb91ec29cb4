import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.ts';
import { freePort } from '../../../test/support/free-port.ts';
import {
  end,
  get,
  groupRuns,
  makeProject,
  poll,
  type Running,
  SPEC_FIRST,
  start,
} from '../../../test/support/project.ts';

/** A document with two operations, one of which greets with `word`. */
const contract = (word: string, greeting = `{ const: ${word} }`) => `openapi: 3.1.0
info: { title: Greetings, version: 1.0.0, license: { name: MIT, identifier: MIT } }
servers: [{ url: 'http://greetings.example/v1' }]
security: []
paths:
  /greeting:
    get:
      operationId: greet
      summary: A greeting
      responses:
        '200':
          description: It
          content:
            application/json:
              schema: ${greeting}
        4XX: { description: No greeting }
  /farewell:
    get:
      operationId: leave
      summary: A farewell
      responses:
        '200': { description: It }
        '404': { description: No farewell }
`;

const MAIN = `import { serve } from 'spec-first-server';
import { open } from './backend.ts';

await serve({ open });
`;

const backend = (operation: string, handler = '', top = '') => `
import type { Handlers } from '../generated/openapi.ts';
${top}
const handlers: Pick<Handlers, '${operation}'> = {
  ${handler}
};
export const open = () => ({ handlers });
`;
const handlers = (greet: string, top?: string) => backend('greet', `async greet() {\n    ${greet}\n  },`, top);

const SERVED = /^Served\. .*$/m;
const NOT_SERVED = '^Not served: the last good version still answers\\.$';

const folder = makeProject({ 'src/main.ts': MAIN, 'src/backend.ts': backend('forget', '...{ leave: undefined },') });
const path = (name: string) => join(folder, name);
const write = (name: string, text: string) => writeFileSync(path(name), text);
/** Without the file, no types are checked: that takes most of the time. */
const checkTypes = (on: boolean) =>
  renameSync(path(on ? 'off.json' : 'tsconfig.json'), path(on ? 'tsconfig.json' : 'off.json'));
const dev = async () => {
  const port = await freePort();
  const loop = start(folder, [SPEC_FIRST, 'dev'], { LOG_LEVEL: 'error', PORT: String(port) });
  return { loop, url: `http://127.0.0.1:${port}/v1` };
};

afterAll(() => rmSync(folder, { recursive: true }));

describe('npm run dev', () => {
  let loop: Running;
  let url: string;
  let polled: ReturnType<typeof poll>;
  const greeting = () => get(`${url}/greeting`);
  /** Does something, and waits until the loop has said what is to come of it. */
  const following = async (save: () => void, pattern = SERVED) => {
    loop.forget();
    save();
    await loop.said(pattern);
  };
  /** Waits for a greeting: one save can be followed twice, and "Served" can have been said of what was saved before. */
  const greets = (text: string, mock?: string) =>
    eventually(async () => {
      const answer = await greeting();
      expect({ text: answer.text, mock: answer.headers['x-mock'] }).toEqual({ text, mock });
    });

  beforeAll(async () => {
    write('openapi.yaml', contract('hello'));
    ({ loop, url } = await dev());
    await loop.said(SERVED);
    polled = poll(`${url}/greeting`);
  });
  afterAll(async () => {
    await polled.stop();
    end(loop);
  });

  test('serves the document at once and names the operations without a handler, with the command for stubs', async () => {
    await loop.said(/^To write stubs/m);
    expect(loop.output()).toContain(
      'Left to write, mocked until then: greet, leave\nTo write stubs: npm run stub -- greet leave\n',
    );
  });

  test('names a type error with its place', async () => {
    await loop.said(/^The types do not fit:\nsrc\/backend\.ts\(4,7\): error TS2741: .*forget/m);
    checkTypes(false);
  });

  test('answers operations without a handler from the document, marked', async () => {
    const { status, headers, text } = await get(`${url}/greeting`);
    expect({ status, text }).toEqual({ status: 200, text: '"hello"' });
    expect(headers['x-mock']).toBe('true');
    expect((await get(`${url}/farewell`, { Prefer: 'code=404' })).status).toBe(404);
  });

  test('answers requests to this machine only, whatever the name that a page leads to it', async () => {
    for (const host of ['localhost:3000', '127.0.0.1', '[::1]:3000', '192.168.0.7']) {
      expect((await get(`${url}/greeting`, { Host: host })).status).toBe(200);
    }
    for (const path of ['/v1/greeting', '/openapi.yaml', '/docs']) {
      expect((await get(new URL(path, url).href, { Host: 'rebound.example:3000' })).status).toBe(421);
    }
  });

  test('follows a save of the document: types and server; says nothing twice', async () => {
    await following(() => write('openapi.yaml', contract('hi')));
    await greets('"hi"', 'true');
    const types = () => readFileSync(path('generated/openapi.ts'), 'utf8');
    await eventually(() => expect(types()).toContain('"application/json": "hi"'));
    expect(loop.output()).not.toContain('Left to write');
  });

  test('shows an error of the document with its place, serves the last good version, and recovers when it is fixed', async () => {
    await following(() => write('openapi.yaml', '{'), new RegExp(`^openapi\\.yaml:\\d+:\\d+ .*\n${NOT_SERVED}`, 'm'));
    expect((await greeting()).text).toBe('"hi"');
    await following(() => write('openapi.yaml', contract('mended')));
    await greets('"mended"', 'true');
  });

  test('follows an editor that replaces the file by a new one', async () => {
    await following(() => {
      write('openapi.yaml~', contract('renamed'));
      renameSync(path('openapi.yaml~'), path('openapi.yaml'));
    });
    await greets('"renamed"', 'true');
  });

  test('follows a file that the last save references, also one that is created later', async () => {
    const unresolved = /^openapi\.yaml:15:\d+ .* parts\/greeting\.yaml cannot be read/m;
    await following(() => write('openapi.yaml', contract('', '{ $ref: parts/greeting.yaml }')), unresolved);
    await following(() => {
      mkdirSync(path('parts'));
      write('parts/greeting.yaml', 'const: part');
    });
    await greets('"part"', 'true');
    await following(() => write('parts/greeting.yaml', 'const: other part'));
    await greets('"other part"', 'true');
  });

  test('follows handlers, and names only the operations without one', async () => {
    checkTypes(true);
    await following(() => {
      write('openapi.yaml', contract('', '{ type: string }'));
      write('src/backend.ts', handlers("return { status: 200, body: 'served' };"));
    }, /^Served\. .*\nLeft to write, mocked until then: leave\nTo write stubs: npm run stub -- leave$/m);
    await greets('"served"');
    await loop.said(/^The types fit\.$/m);
    checkTypes(false);
  });

  test('keeps the last good server when a handler has a syntax error or throws while loading, and says where', async () => {
    await following(
      () => write('src/backend.ts', handlers('return = {};')),
      new RegExp(`src/backend\\.ts:6\n[\\s\\S]*${NOT_SERVED}`, 'm'),
    );
    await following(
      () => write('src/backend.ts', handlers('', "throw new Error('no thanks');")),
      new RegExp(`src/backend\\.ts:3\n[\\s\\S]*no thanks[\\s\\S]*${NOT_SERVED}`, 'm'),
    );
    expect((await greeting()).text).toBe('"served"');
  });

  test('writes the types of a document that a handler does not let it serve', async () => {
    write('openapi.yaml', contract('', '{ type: [string, "null"] }'));
    const types = () => readFileSync(path('generated/openapi.ts'), 'utf8');
    await eventually(async () => expect(types()).toContain('string | null'));
  });

  test('ends a start that hangs when something newer is saved', async () => {
    const top = `import { writeFileSync } from 'node:fs'; writeFileSync('hangs', '');
await new Promise(() => setInterval(() => 0, 1e6));`;
    write('src/backend.ts', handlers('', top));
    await eventually(() => existsSync(path('hangs')));
    await following(() => write('src/backend.ts', handlers("return { status: 200, body: 'newer' };")));
    await greets('"newer"');
  });

  test('serves the last of many quick saves', async () => {
    for (let count = 0; count < 10; count++) {
      write('src/backend.ts', handlers(`return { status: 200, body: 'quick ${count}' };`));
      await pause(20);
    }
    await following(() => write('src/backend.ts', handlers("return { status: 200, body: 'last' };")));
    await greets('"last"');
  });

  test('has refused no connection and cut off no response meanwhile', async () => {
    await polled.stop();
    expect(polled.failures).toEqual([]);
    expect([...polled.answers.keys()].filter((answer) => !/^(200|501) /.test(answer))).toEqual([]);
    expect(polled.answers.size).toBeGreaterThanOrEqual(8);
  });

  test('says that a server has ended, and serves again after a save', async () => {
    const exits = 'async greet() {\n    process.exit(3);\n  },\n  leave: () => ({ status: 200 }),';
    write('src/backend.ts', backend('greet', exits));
    const left = () => get(`${url}/farewell`);
    await eventually(async () => expect((await left()).headers).not.toHaveProperty('x-mock'));
    await following(
      () => void greeting().catch(() => undefined),
      /^The server has ended\.\nNot served: fix the error and save\.$/m,
    );
    await following(() => write('src/backend.ts', handlers("return { status: 200, body: 'mended' };")));
    await greets('"mended"');
  });

  test('ends with all its processes when Ctrl-C reaches all of them', async () => {
    process.kill(-(loop.child.pid ?? 0), 'SIGINT');
    expect(await loop.exit).toBe(0);
    // The compiler's own process ends a moment after its parent.
    await eventually(() => !groupRuns(loop));
  });
});

describe('npm run dev with a missing document', () => {
  let loop: Running;
  beforeAll(() => rmSync(path('openapi.yaml')));
  afterAll(() => end(loop));

  test('waits until the error is fixed, and ends on SIGTERM with all its processes', async () => {
    const started = await dev();
    loop = started.loop;
    await loop.said(/^Not served: fix the error and save\.$/m);
    expect(loop.output()).toMatch(
      /^OPENAPI_FILE is "openapi\.yaml", but must be an OpenAPI document that can be read/m,
    );
    write('openapi.yaml', contract('', '{ type: string }'));
    await loop.said(SERVED);
    expect((await get(`${started.url}/greeting`)).text).toBe('"mended"');
    loop.child.kill('SIGTERM');
    expect(await loop.exit).toBe(0);
    await eventually(() => !groupRuns(loop));
  });

  test('leaves no process behind when it is killed', async () => {
    ({ loop } = await dev());
    await loop.said(SERVED);
    loop.child.kill('SIGKILL');
    await eventually(() => !groupRuns(loop));
  });
});

describe('the command line of npm run dev', () => {
  test('rejects unknown options with exit code 2, and wrong variables with 1', async () => {
    const loops = [start(folder, [SPEC_FIRST, 'dev', '--fast']), start(folder, [SPEC_FIRST, 'dev'], { PORT: 'x' })];
    expect(await Promise.all(loops.map(({ exit }) => exit))).toEqual([2, 1]);
    expect(loops.map((loop) => loop.output())).toEqual([
      expect.stringContaining("Unknown option '--fast'"),
      expect.stringContaining('PORT is "x", but must be an integer'),
    ]);
  });
});
