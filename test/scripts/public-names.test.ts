import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { withFiles } from 'test-support/documents';
import { publicNames, publicNamesOfAll } from '../../scripts/public-names.ts';

const MANIFEST = {
  exports: {
    '.': { types: './index.d.ts', default: './index.js' },
    './extra': { types: './folder/extra.d.ts', default: './folder/extra.js' },
    './preload': './preload.js',
    './untyped': { types: './missing.d.ts' },
  },
};

const namesOf = (index: string, extra = '', inner = '', manifest: object = MANIFEST) =>
  withFiles(
    {
      'package.json': JSON.stringify(manifest),
      'index.d.ts': index,
      'folder/extra.d.ts': extra,
      'folder/inner.d.ts': inner,
    },
    async (folder) => publicNames(folder),
  );

test.each([
  ['export declare const limit = 5;', ['. limit']],
  ['export declare function serve(port: number): void;', ['. serve']],
  ['export declare abstract class Store {\n}', ['. Store']],
  ['export type Text = string;', ['. Text']],
  ['declare const inner = 1;\ninterface Inner {\n    name: string;\n}', []],
  ['/** export declare const limit = 5; */', []],
  ["declare const a = 1;\nexport * as tools from './folder/inner.js';", ['. tools']],
  ['declare const quoted = "export { quoted };";', []],
  ['declare const inner = 1;\nexport { inner as outer, type Text };', ['. Text', '. outer']],
  ["export type { Request } from 'express';", ['. Request']],
  ['export {};', []],
])('%j has the public names %j', async (declarations, names) => {
  expect(await namesOf(declarations)).toStrictEqual(names);
});

test('members of interfaces and classes are public, but members of members are not', async () => {
  const declarations = `export interface Options {
    readonly port?: number;
    open(): void;
    readonly limits: {
        readonly body: number;
    };
}
interface Inner {
    secret: string;
}
export declare class Store {
    static open: () => Store;
    constructor(name: string);
    /** @deprecated
    old: string; */
    close(): void;
}
declare const last: string;
export {};
`;
  expect(await namesOf(declarations)).toStrictEqual([
    '. Options',
    '. Options.limits',
    '. Options.open',
    '. Options.port',
    '. Store',
    '. Store.close',
    '. Store.constructor',
    '. Store.open',
  ]);
});

test('names of other files are public under the name and the entry that export them', async () => {
  const inner = `export interface Text {
    length: number;
}
export declare const hidden = 1;
export interface Texts {
    first: Text;
}
`;
  const index = "export { type Text as Message } from './folder/inner.js';\n";
  const extra = "export * from './inner.ts';\n";
  expect(await namesOf(index, extra, inner)).toStrictEqual([
    '. Message',
    '. Message.length',
    './extra Text',
    './extra Text.length',
    './extra Texts',
    './extra Texts.first',
    './extra hidden',
  ]);
});

test('members of classes, also static ones, are public; those of parameters are not', async () => {
  const inner = `export declare function open(options: {
    readonly port: number;
}): void;
export declare class Store<T> {
    #private;
    private secret;
    static open(): Store<string>;
    readonly 'Retry-After': T;
    get size(): number;
    [key: string]: unknown;
}
export type Options = {
    port: number;
};
`;
  const index = "export { open, Store as Shop, type Options } from './folder/inner.js';\n";
  expect(await namesOf(index, '', inner)).toStrictEqual([
    '. Options',
    '. Shop',
    '. Shop.open',
    '. Shop.size',
    '. open',
  ]);
});

test('a library without exports has no public names', async () => {
  expect(await namesOf('export declare const limit = 5;', '', '', {})).toStrictEqual([]);
});

test('the names of each tarball are listed by the name of the library', () =>
  withFiles(
    {
      'one/package/package.json': JSON.stringify({ exports: { '.': { types: './a.d.ts' } } }),
      'one/package/a.d.ts': 'export declare const limit = 5;\n',
      'two/package/package.json': '{}',
    },
    async (folder) => {
      const pack = (name: string) => {
        const tarball = join(folder, `${name}.tgz`);
        execFileSync('tar', ['czf', tarball, '-C', join(folder, name), 'package']);
        return [name, tarball] as const;
      };
      expect(publicNamesOfAll(new Map([pack('one'), pack('two')]))).toStrictEqual({
        one: ['. limit'],
        two: [],
      });
    },
  ));
