import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, chromium } from 'playwright-core';

const modules = join(import.meta.dirname, '../../node_modules');

/** The time limit of the start of the browser and of each step on a page, in milliseconds. */
export const BROWSER_MS = 120_000;

/** Host names under `.test` (RFC 6761 §6.2) have the address of this machine. */
const args = ['--host-resolver-rules=MAP *.test 127.0.0.1'];
const options = { args, timeout: BROWSER_MS };

/**
 * Starts a headless browser, which the caller must close: the program `CHROME_PATH`; by default, on
 * Linux x64, Chromium of the npm package `@sparticuz/chromium` with its libraries and fonts;
 * elsewhere, the installed Google Chrome.
 *
 * @throws {Error} of Playwright, if the browser is missing or does not start.
 */
export async function launchBrowser(): Promise<Browser> {
  const { CHROME_PATH } = process.env;
  if (CHROME_PATH) return chromium.launch({ ...options, executablePath: CHROME_PATH });
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return chromium.launch({ ...options, channel: 'chrome' });

  const folder = await unpackedChromium();
  return chromium.launch({
    ...options,
    executablePath: join(folder, 'chromium'),
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(folder, 'al2023/lib'),
      FONTCONFIG_FILE: join(folder, 'fonts.conf'),
      XDG_CACHE_HOME: join(folder, 'cache'),
    },
  });
}

/** Unpacks the packaged Chromium once per version. Safe for concurrent test processes. */
async function unpackedChromium(): Promise<string> {
  const { version }: { version: string } = JSON.parse(
    await readFile(join(modules, '@sparticuz/chromium/package.json'), 'utf8'),
  );
  const cache = join(modules, '.cache');
  const folder = join(cache, `chromium-${version}`);
  if (existsSync(folder)) return folder;

  await mkdir(cache, { recursive: true });
  const staging = await mkdtemp(`${folder}-`);
  try {
    // The package unpacks into TMPDIR. It unpacks its libraries only in AWS Lambda, so a child
    // process gets both variables.
    await promisify(execFile)(
      process.execPath,
      [
        '--input-type=module',
        '--eval',
        'await (await import("@sparticuz/chromium")).default.executablePath()',
      ],
      {
        cwd: modules,
        env: { ...process.env, TMPDIR: staging, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' },
      },
    );
    await writeFile(
      join(staging, 'fonts.conf'),
      `<fontconfig><dir prefix="relative">fonts</dir><dir>/usr/share/fonts</dir><cachedir prefix="xdg">fontconfig</cachedir><alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias></fontconfig>\n`,
    );
    await rename(staging, folder);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
