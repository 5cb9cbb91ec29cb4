import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { copyProject } from '../../test/support/project.ts';
import { COLUMNS, type Output } from './svg.ts';

const PORT = '3000';
/** Seconds that a reader gets for what was printed. */
const READING = 2.5;

const NEW_OPERATION = `  /plants/{id}:
    get:
      operationId: getPlants
      tags: [plants]
      summary: Plants with this id
      parameters:
        - { name: id, in: path, required: true, schema: { type: integer, format: int64 } }
      responses:
        '200':
          description: The plants.
          content:
            application/json:
              schema: { type: array, items: { $ref: '#/components/schemas/Plant' } }
        default:
          $ref: '#/components/responses/Failure'
components:
`;

/** Runs \`npm run dev\` in a copy of the project, saves the document three times, and records what the terminal shows. */
export async function recordDevelopment(): Promise<Output[]> {
  const folder = copyProject();
  const outputs: Output[] = [];
  let clock = 0;
  const show = (text: string, reading = READING) => {
    outputs.push({ at: clock, text });
    clock += reading;
  };
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, TERM: 'xterm-256color', PORT, ACCESS_TOKENS: 'token' };
  const child = spawn('script', ['-qefc', `stty cols ${COLUMNS}; npm run --silent dev`, '/dev/null'], {
    cwd: folder,
    env,
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (printed += text));
  /** Waits for a text, then shows all that was printed. */
  const shown = async (wanted: RegExp) => {
    const end = Date.now() + 60_000;
    while (!wanted.test(printed)) {
      if (Date.now() > end) throw new Error(`${wanted} is not printed:\n${printed}`);
      await pause(20);
    }
    await pause(200);
    show(printed);
    printed = '';
  };
  const save = async (what: string, text: string) => {
    show(`\n\u001b[36m# ${what}\u001b[39m\n`, 1);
    writeFileSync(join(folder, 'openapi.yaml'), text);
  };
  try {
    const document = readFileSync(join(folder, 'openapi.yaml'), 'utf8');
    show('$ npm run dev\n', 1);
    await shown(/Served\./);
    const larger = document.replace('components:\n', NEW_OPERATION);
    await save('You add GET /plants/{id} to openapi.yaml and save.', larger);
    await shown(/To write stubs/);
    const answer = await fetch(`http://127.0.0.1:${PORT}/plants/1`, { headers: { Authorization: 'Bearer token' } });
    show(`\n\u001b[36m# It is mocked: GET /plants/1 answers ${answer.status}\u001b[39m\n${await answer.text()}\n`);
    await shown(/mock/);
    await save('You mistype a reference and save.', larger.replace("/Plant' } }", "/Plamt' } }"));
    await shown(/Not served/);
    await save(
      'You undo it all, rename "tag" to "label" and save.',
      document.replace('\n        tag:', '\n        label:'),
    );
    await shown(/src\/plants\.ts/);
    return outputs;
  } finally {
    child.kill('SIGINT');
    await once(child, 'close');
    rmSync(folder, { recursive: true });
  }
}
