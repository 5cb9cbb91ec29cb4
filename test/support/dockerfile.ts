import { spawnSync } from 'node:child_process';
import { cpSync, lstatSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** One instruction of a Dockerfile, with continued lines joined and flags parsed. */
export interface Instruction {
  readonly name: string;
  readonly flags: Readonly<Record<string, string>>;
  readonly text: string;
}

export function instructionsOf(dockerfile: string): Instruction[] {
  const lines = dockerfile
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const [, name = '', flags = '', text = ''] = /^(\w+)\s+((?:--\S+\s+)*)(.*)$/.exec(line) ?? [];
    const pairs = [...flags.matchAll(/--([\w-]+)=(\S+)/g)].map(([, key = '', value = '']) => [
      key,
      value,
    ]);
    return { name: name.toUpperCase(), flags: Object.fromEntries(pairs), text: text.trim() };
  });
}

/**
 * Returns true if `.dockerignore` includes a path of a project in the build. The last matching
 * pattern decides.
 */
export function isSent(project: string, path: string): boolean {
  const patterns = readFileSync(join(project, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const matches = patterns.filter((pattern) => {
    const plain = pattern.replace(/^!/, '');
    return plain === '*' || path === plain || path.startsWith(`${plain}/`);
  });
  return matches.at(-1)?.startsWith('!') ?? true;
}

/**
 * True if the tests run as root. The service then runs as the user of Node's image, otherwise as the
 * user of the tests.
 */
export const asRoot = process.getuid?.() === 0;
/** The id of the user `node` in Node's image. */
export const NODE_USER = 1000;

/**
 * Runs the steps of a project's Dockerfile without a container engine. Each stage has a
 * separate root folder.
 *
 * @param folder contains the root folders. A file `node` in it is the Node of the image.
 * @param commandFor returns the command to run for the text of a `RUN`. By default the text.
 * @returns the root folder of the last stage.
 * @throws {Error} if a step fails.
 */
export function build(
  project: string,
  folder: string,
  commandFor = (text: string) => text,
): string {
  const stages = new Map<string, string>();
  let root = '';
  let workdir = '/';
  let user = {};
  const place = (path: string): string => join(root, path.startsWith('/') ? '' : workdir, path);
  for (const { name, flags, text } of instructionsOf(
    readFileSync(join(project, 'Dockerfile'), 'utf8'),
  )) {
    if (name === 'FROM') {
      const stage = /\bAS (\S+)$/i.exec(text)?.[1] ?? 'last';
      root = join(folder, stage);
      stages.set(stage, root);
      workdir = '/';
      mkdirSync(root, { recursive: true });
    } else if (name === 'WORKDIR') {
      workdir = text;
      mkdirSync(place('.'), { recursive: true });
    } else if (name === 'COPY') {
      copy(text, flags.from === undefined ? undefined : stages.get(flags.from));
    } else if (name === 'USER') user = asRoot ? { uid: NODE_USER, gid: NODE_USER } : {};
    else if (name === 'RUN') run(text);
  }
  return root;

  function copy(text: string, stage: string | undefined): void {
    const paths = text.split(/\s+/);
    const target = paths.pop() ?? '';
    for (const path of paths) {
      if (stage === undefined && !isSent(project, path))
        throw new Error(`.dockerignore excludes ${path}, add it there with a !`);
      const source = join(stage ?? project, path);
      const inside = !lstatSync(source).isDirectory() && target.endsWith('/');
      const destination = inside ? join(place(target), basename(path)) : place(target);
      mkdirSync(dirname(destination), { recursive: true });
      // A stage is not used again, so moving its files is enough, and faster.
      if (stage !== undefined) renameSync(source, destination);
      else cpSync(source, destination, { recursive: true, verbatimSymlinks: true });
    }
  }

  function run(text: string): void {
    const [owner, group] = asRoot
      ? [NODE_USER, NODE_USER]
      : [process.getuid?.(), process.getgid?.()];
    const command = commandFor(text)
      .replaceAll('-o node -g node', `-o ${owner} -g ${group}`)
      .replace(/(?<=\s)\/\w+/g, (path) => join(root, path));
    const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
      cwd: place('.'),
      ...user,
      // Contains the registry and the proxy of this machine.
      env: {
        ...process.env,
        NODE_COMPILE_CACHE: undefined,
        PATH: `${folder}:${dirname(process.execPath)}:${process.env.PATH}`,
        npm_config_prefer_offline: 'true',
      },
      timeout: 500_000,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`RUN ${text} ended with ${status}:\n${stdout}${stderr}`);
  }
}
