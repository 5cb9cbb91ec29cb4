import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ENVIRONMENT } from 'test-support/environment';
import { eventually } from 'test-support/eventually';
import { makeProject } from 'test-support/project';

const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');

function block(language: string): string {
  const [, code = ''] = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(readme) ?? [];
  return code;
}

test('the example of the README runs unchanged', async () => {
  const folder = makeProject({ 'openapi.yaml': block('yaml'), 'main.ts': block('ts') });
  const env = { ...ENVIRONMENT, PORT: '0', ACCESS_TOKENS: 'secret' };
  const child = spawn(process.execPath, ['main.ts'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    let url = '';
    await eventually(() => {
      [, url = ''] = /"url":"([^"]+)"/.exec(output) ?? [];
      return url !== '';
    });
    const greet = async (name: string, token = 'secret') => {
      const headers = { Authorization: `Bearer ${token}` };
      const response = await fetch(`${url}/greetings/${name}`, { headers });
      return [response.status, await response.json()];
    };
    expect(await greet('Ann')).toEqual([200, { text: 'Hello, Ann!' }]);
    expect(await greet('nobody')).toMatchObject([404, { detail: 'there is nobody to greet' }]);
    expect((await greet('Ann', 'other'))[0]).toBe(401);
    expect((await greet('a'.repeat(21)))[0]).toBe(400);
  } finally {
    child.kill();
    await once(child, 'exit');
    rmSync(folder, { recursive: true });
  }
});
