import { jest } from '@jest/globals';

/** Calls a command of the tools in a folder, in this process. */
export async function call(
  folder: string,
  run: (args: readonly string[]) => Promise<number>,
  ...args: string[]
) {
  const home = process.cwd();
  const printed = { stdout: '', stderr: '' };
  const keep = (stream: keyof typeof printed) => (line: unknown) => {
    printed[stream] += `${line}\n`;
  };
  const spies = [
    jest.spyOn(console, 'log').mockImplementation(keep('stdout')),
    jest.spyOn(console, 'error').mockImplementation(keep('stderr')),
  ];
  delete process.env.OPENAPI_FILE;
  process.chdir(folder);
  try {
    const status = await run(args);
    return { status, ...printed };
  } finally {
    process.chdir(home);
    delete process.env.OPENAPI_FILE;
    for (const spy of spies) spy.mockRestore();
  }
}
