import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { freePort } from 'test-support/free-port';
import {
  end,
  get,
  groupRuns,
  makeProject,
  poll,
  type Running,
  SPEC_FIRST,
  start,
} from 'test-support/project';
import { describeMissing } from '../src/dev.ts';

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
const handlers = (greet: string, top?: string) =>
  backend('greet', `async greet() {\n    ${greet}\n  },`, top);

const SERVED = /^Served\. .*$/m;
const NOT_SERVED = '^Not served: the last good version is still served\\.$';

const folder = makeProject({
  'src/main.ts': MAIN,
  'src/backend.ts': backend('forget', '...{ leave: undefined },'),
});
const path = (name: string) => join(folder, name);
const write = (name: string, text: string) => writeFileSync(path(name), text);
const read = (name: string) => readFileSync(path(name), 'utf8');

const dev = async (...args: string[]) => {
  const port = await freePort();
  const variables = { LOG_LEVEL: 'error', PORT: String(port) };
  const loop = start(folder, [SPEC_FIRST, 'dev', ...args], variables);
  return { loop, url: `http://127.0.0.1:${port}/v1` };
};

const writesPid = (name: string) =>
  `import { appendFileSync } from 'node:fs'; appendFileSync('${name}', process.pid + ' ');`;

/** Returns true if the first process that wrote its id to a file runs. */
const isRunning = (name: string) => {
  try {
    return process.kill(Number.parseInt(read(name), 10), 0);
  } catch {
    return false;
  }
};

// The last processes of a killed group may still write.
afterAll(() => rmSync(folder, { recursive: true, maxRetries: 5 }));

describe('npm run dev', () => {
  let loop: Running;
  let url: string;
  let polled: ReturnType<typeof poll>;
  const greeting = () => get(`${url}/greeting`);
  const saveAndWait = async (save: () => void, pattern = SERVED) => {
    loop.forget();
    save();
    await loop.waitForOutput(pattern);
  };
  /** One save may start two servers, and the line "Served" may belong to an earlier save. */
  const greets = (text: string, mock?: string) =>
    eventually(async () => {
      const answer = await greeting();
      expect({ text: answer.text, mock: answer.headers['x-mock'] }).toEqual({ text, mock });
      // The requests of `polled` have received this version, too.
      expect([...polled.answers.keys()]).toContain(`200 ${text}`);
    });

  beforeAll(async () => {
    write('openapi.yaml', contract('hello'));
    // The check of types takes most of the time. See dev/compiler.test.ts.
    rmSync(path('tsconfig.json'));
    ({ loop, url } = await dev());
    await loop.waitForOutput(SERVED);
    polled = poll(`${url}/greeting`);
  });
  afterAll(async () => {
    await polled.stop();
    end(loop);
  });

  test('serves the document at once and names the operations without a handler, with the command for stubs', async () => {
    await loop.waitForOutput(/^To write stubs/m);
    expect(loop.output()).toContain(
      'Operations without a handler (mocked): greet, leave\nTo write stubs: npm run stub -- greet leave\n',
    );
  });

  test('mocks operations without a handler, and marks the responses', async () => {
    const { status, headers, text } = await get(`${url}/greeting`);
    expect({ status, text }).toEqual({ status: 200, text: '"hello"' });
    expect(headers['x-mock']).toBe('true');
    expect((await get(`${url}/farewell`, { Prefer: 'code=404' })).status).toBe(404);
  });

  test('serves requests that have a local Host header, and rejects others with 421', async () => {
    for (const host of ['localhost:3000', '127.0.0.1', '[::1]:3000', '192.168.0.7']) {
      expect((await get(`${url}/greeting`, { Host: host })).status).toBe(200);
    }
    for (const path of ['/v1/greeting', '/openapi.yaml', '/docs']) {
      expect((await get(new URL(path, url).href, { Host: 'rebound.example:3000' })).status).toBe(
        421,
      );
    }
  });

  test('shows an error of the document with its place, and serves the last good version until it is fixed', async () => {
    await saveAndWait(
      () => write('openapi.yaml', '{'),
      new RegExp(`^openapi\\.yaml:\\d+:\\d+ .*\n${NOT_SERVED}`, 'm'),
    );
    expect((await greeting()).text).toBe('"hello"');
    await saveAndWait(() => write('openapi.yaml', contract('mended')));
    await greets('"mended"', 'true');
  });

  test('watches a newly referenced file, even one that does not exist yet', async () => {
    const unresolved = /^openapi\.yaml:15:\d+ .* parts\/greeting\.yaml cannot be read/m;
    await saveAndWait(
      () => write('openapi.yaml', contract('', '{ $ref: parts/greeting.yaml }')),
      unresolved,
    );
    // The operation with the error responds with 501. The other one is served.
    await eventually(() => [...polled.answers.keys()].some((answer) => /^501 /.test(answer)));
    expect((await get(`${url}/farewell`)).status).toBe(200);
    await saveAndWait(() => {
      mkdirSync(path('parts'));
      write('parts/greeting.yaml', 'const: part');
    });
    await greets('"part"', 'true');
  });

  test('updates after a save of handlers, and names only the operations without one', async () => {
    await saveAndWait(() => {
      write('openapi.yaml', contract('', '{ type: string }'));
      write('src/backend.ts', handlers("return { status: 200, body: 'served' };"));
    }, /^Served\. .*\nOperations without a handler \(mocked\): leave\nTo write stubs: npm run stub -- leave$/m);
    await greets('"served"');
  });

  test('keeps the last good server when a handler has a syntax error or throws while loading, and shows the place', async () => {
    await saveAndWait(
      () => write('src/backend.ts', handlers('return = {};')),
      new RegExp(`src/backend\\.ts:6\n[\\s\\S]*${NOT_SERVED}`, 'm'),
    );
    await saveAndWait(
      () => write('src/backend.ts', handlers('', "throw new Error('no thanks');")),
      new RegExp(`src/backend\\.ts:3\n[\\s\\S]*no thanks[\\s\\S]*${NOT_SERVED}`, 'm'),
    );
    expect((await greeting()).text).toBe('"served"');
  });

  test('writes the types of a document even if a handler prevents the start', async () => {
    write('openapi.yaml', contract('', '{ type: [string, "null"] }'));
    const types = () => read('generated/openapi.ts');
    await eventually(async () => expect(types()).toContain('string | null'));
  });

  test('ends a hanging start after a newer save', async () => {
    const top = `${writesPid('hangs')}
await new Promise(() => setInterval(() => 0, 1e6));`;
    write('src/backend.ts', handlers('', top));
    await eventually(() => existsSync(path('hangs')) && isRunning('hangs'));
    await saveAndWait(() =>
      write('src/backend.ts', handlers("return { status: 200, body: 'newer' };")),
    );
    await greets('"newer"');
    await eventually(() => !isRunning('hangs'));
    expect(loop.output()).not.toContain('Not served');
  });

  test('refuses no connection and aborts no response during all these saves', async () => {
    await polled.stop();
    expect(polled.failures).toEqual([]);
    expect([...polled.answers.keys()].filter((answer) => !/^(200|501) /.test(answer))).toEqual([]);
    expect(polled.answers.size).toBeGreaterThanOrEqual(6);
  });

  test('reports a server that has exited, and serves again after a save', async () => {
    const exits = 'async greet() {\n    process.exit(3);\n  },\n  leave: () => ({ status: 200 }),';
    write('src/backend.ts', backend('greet', exits));
    const farewell = () => get(`${url}/farewell`);
    await eventually(async () => expect((await farewell()).headers).not.toHaveProperty('x-mock'));
    const isLost = () =>
      greeting().then(
        () => false,
        () => true,
      );
    await saveAndWait(
      // The former server may still respond for a moment.
      () => void eventually(isLost),
      /^The server has ended\.\nNot served: fix the error and save\.$/m,
    );
    await saveAndWait(() =>
      write('src/backend.ts', handlers("return { status: 200, body: 'mended' };")),
    );
    await greets('"mended"');
  });

  test('ends with all its processes when Ctrl-C signals all of them', async () => {
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

  test('waits until the error is fixed, and leaves no process behind when it is killed', async () => {
    const started = await dev();
    loop = started.loop;
    await loop.waitForOutput(/^Not served: fix the error and save\.$/m);
    expect(loop.output()).toMatch(
      /^OPENAPI_FILE must be a readable OpenAPI document \(ENOENT\), got "openapi\.yaml"/m,
    );
    write('openapi.yaml', contract('', '{ type: string }'));
    await loop.waitForOutput(SERVED);
    expect((await get(`${started.url}/greeting`)).text).toBe('"mended"');
    loop.child.kill('SIGKILL');
    await eventually(() => !groupRuns(loop));
  });
});

test('npm run dev ends when npm has ended, which does not pass on its signal', async () => {
  const command = JSON.stringify([SPEC_FIRST, 'dev']);
  const npm = `require('node:child_process').spawn(process.execPath, ${command}, { stdio: 'inherit' })`;
  const variables = { npm_lifecycle_event: 'dev', LOG_LEVEL: 'error' };
  const loop = start(folder, ['-e', npm], variables);
  try {
    await loop.waitForOutput(SERVED);
    loop.child.kill('SIGKILL');
    await eventually(() => !groupRuns(loop));
  } finally {
    end(loop);
  }
});

describe('npm run dev in a project without a compiler', () => {
  let loop: Running;
  let url: string;
  let headers: Record<string, string>;
  afterAll(() => end(loop));

  const answer = async (name: string) => {
    const { status, text } = await get(`${url}/${name}`, headers);
    return `${status} ${text}`;
  };

  test('serves the document, and says that the types are not checked', async () => {
    write('tsconfig.json', '{}');
    write('src/backend.ts', handlers("return { status: 200, body: 'unchecked' };"));
    rmSync(path('node_modules'));
    mkdirSync(path('node_modules'));
    const server = 'node_modules/spec-first-server';
    symlinkSync(resolve(server), path(server));
    const secured = contract('', '{ $ref: ../greeting.yaml }').replace('[]', '[{ token: [] }]');
    const components = 'components: { securitySchemes: { token: { type: http, scheme: bearer } } }';
    mkdirSync(path('api'));
    write('api/openapi.yaml', `${secured}${components}\n`);
    write('greeting.yaml', 'type: string\n');
    write('.env', 'OPENAPI_FILE=api/openapi.yaml\nMISSING_OPERATIONS=501\n');
    ({ loop, url } = await dev('--allow-outside'));
    await loop.waitForOutput(/^Operations without a handler \(responding with 501\): leave$/m);
    await loop.waitForOutput(/^The types are not checked: Cannot find module 'typescript/m);
    const [, token] = await loop.waitForOutput(/^ *token +(\S+)$/m);
    expect((await get(`${url}/greeting`)).status).toBe(401);
    headers = { Authorization: `Bearer ${token}` };
    expect(await answer('greeting')).toBe('200 "unchecked"');
    expect(await answer('farewell')).toMatch(/^501 /);
  });

  test('repeats the errors of a compiler, which was installed later, after each save', async () => {
    mkdirSync(path('node_modules/typescript/bin'), { recursive: true });
    write('node_modules/typescript/package.json', '{ "type": "module" }');
    write('node_modules/typescript/bin/tsc', "console.log('an error'); process.exitCode = 1;");
    for (const text of ['wrong', 'still wrong']) {
      loop.forget();
      write('src/backend.ts', handlers(`return { status: 200, body: '${text}' };`));
      await loop.waitForOutput(/^The code does not compile:\nan error$/m);
      await eventually(async () => expect(await answer('greeting')).toBe(`200 "${text}"`));
    }
  });

  test('ends a running compiler after the next save', async () => {
    const hangs = `${writesPid('compilers')}\nsetInterval(() => 0, 1e6);`;
    write('node_modules/typescript/bin/tsc', hangs);
    loop.forget();
    write('src/backend.ts', handlers("return { status: 200, body: 'first' };"));
    await loop.waitForOutput(SERVED);
    await eventually(() => isRunning('compilers'));
    loop.forget();
    const slow = `writeFileSync('begun', '');
    await pause(1_000);
    return { status: 200, body: 'second' };`;
    const imports = `import { writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';`;
    write('src/backend.ts', handlers(slow, imports));
    await loop.waitForOutput(/^Served\. \d+ ms after the save\.$/m);
    await eventually(() => !isRunning('compilers'));
  });

  test('keeps its options and its token after a save, and stops without losing a request or a process', async () => {
    const last = answer('greeting');
    await eventually(() => existsSync(path('begun')));
    write('src/backend.ts', handlers("return { status: 200, body: 'late' };", writesPid('late')));
    loop.child.kill('SIGTERM');
    expect(await last).toBe('200 "second"');
    expect(await loop.exit).toBe(0);
    expect(loop.output()).not.toMatch(/token|Not served|The types/);
    await eventually(() => !groupRuns(loop));
    expect(existsSync(path('late'))).toBe(false);
  });
});

const many = Array.from({ length: 12 }, (_, index) => `op${index}`);

test.each<[missing: string[], isMocked: boolean, text: string]>([
  [[], true, ''],
  [
    ['a', 'b'],
    true,
    'Operations without a handler (mocked): a, b\nTo write stubs: npm run stub -- a b',
  ],
  [
    many.slice(0, 10),
    false,
    `Operations without a handler (responding with 501): ${many.slice(0, 10).join(', ')}
To write stubs: npm run stub -- ${many.slice(0, 10).join(' ')}`,
  ],
  [
    many,
    true,
    `Operations without a handler (mocked): ${many.slice(0, 10).join(', ')} and 2 more
To write stubs: npm run stub -- --all`,
  ],
])('names at most ten operations without a handler, of %j', (missing, isMocked, text) => {
  expect(describeMissing(missing, isMocked)).toBe(text);
});
