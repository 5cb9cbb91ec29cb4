/**
 * Writes values of the code into pages: the variables of `--help` below `<!-- variables -->`, and a
 * number before `<!-- PACKAGE NAME UNIT -->`, where NAME is a constant of the package. The number
 * keeps its unit. UNIT is that of the constant, by default ms, bytes or none.
 *
 * Usage: npm run tables -- [--check]. With `--check`, exits with 1 if a page differs.
 */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';

const PAGES = [
  'docs/operating.md',
  'packages/group-commit/README.md',
  'packages/spec-first-server/README.md',
];

const UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  min: 60_000,
  h: 3_600_000,
  KiB: 1024,
  MiB: 1024 ** 2,
  million: 1_000_000,
};
const unitOf = (name = '') => UNITS[name] ?? 1;

const check = process.argv.includes('--check');
for (const page of PAGES) {
  const text = readFileSync(page, 'utf8');
  const written = text
    .replace(/(?<=<!-- variables -->\n\n```text\n).*?(?=\n```)/s, variables)
    .replaceAll(
      /[\d.]+( (\w+))?(?=[^|]*?<!-- ([\w-]+) ([\w-]+)(?: (\w+))? -->)/g,
      (_, label = '', unit, library, name, itsUnit) =>
        `${(constant(library, name) * unitOf(itsUnit)) / unitOf(unit)}${label}`,
    );
  if (written === text) continue;
  if (check) {
    console.error(`${page} differs from the code: run npm run tables`);
    process.exitCode = 1;
  } else writeFileSync(page, written);
}

function variables(): string {
  const help = execFileSync(process.execPath, ['src/main.ts', '--help'], { encoding: 'utf8' });
  const [, list = ''] = /directory:\n\n(.*?)\n\n/s.exec(help) ?? [];
  return list.replaceAll(/^ {2}/gm, '');
}

/**
 * Returns a constant of a package: a number, or a product of numbers and powers.
 *
 * @throws {Error} if it is missing, or has several values.
 */
function constant(library: string, name: string): number {
  const declaration = new RegExp(
    `(?:const ${name} = |^ +${name}: |'${name}', |--${name}=)([\\d_]+(?: \\*+ [\\d_]+)*)`,
    'gm',
  );
  const files = globSync(`packages/${library}/src/**/*.{ts,js}`);
  const products = files.flatMap((file) =>
    Array.from(readFileSync(file, 'utf8').matchAll(declaration), ([, product = '']) => product),
  );
  const [product = '', ...others] = new Set(products);
  if (product === '' || others.length > 0)
    throw new Error(`${library} must have one value of ${name}, got "${[...new Set(products)]}"`);
  return product
    .replaceAll('_', '')
    .split(' * ')
    .map((factor) => factor.split(' ** ').map(Number))
    .reduce((result, [base = 0, exponent = 1]) => result * base ** exponent, 1);
}
