import { readdirSync, statSync } from 'node:fs';
import { Codecs, checkDocument, createSchemas, loadDocument } from 'openapi-document';
import { createValidators } from './packages/spec-first-server/src/core/validation/validator.ts';
import { mock } from './packages/spec-first-server/src/core/response/mock.ts';
import { PROBLEM_DETAILS } from './packages/spec-first-server/src/core/response/problem.ts';
const [min, max] = process.argv.slice(2).map(Number);
process.chdir('/work/wt/documents');
const files = [...readdirSync('.').filter((f) => /\.(yaml|json)$/.test(f) && statSync(f).size >= min && statSync(f).size < max)];
let total = 0; let good = 0; let unchecked = 0;
for (const f of files) {
  try {
    const t = performance.now();
    const document = await loadDocument(f);
    const codecs = new Codecs();
    const { broken, problems } = checkDocument(document, { codecs });
    const schemas = createSchemas(document.root);
    const ops = document.operations.filter(({ id }) => !broken.has(id));
    await codecs.load([...ops.flatMap((o: any) => [...(o.requestBody?.media ?? []), ...o.responses.flatMap((r: any) => r.media)]), { type: PROBLEM_DETAILS.mediaType }] as any);
    const validatorOf = createValidators(schemas, { codecs, onDrop: undefined } as any);
    let n = 0; const slow: string[] = [];
    for (const o of ops) {
      const t1 = performance.now();
      try {
        const r: any = await mock(o, { schemas, codecs, validatorOf, errorBody: PROBLEM_DETAILS } as any)({ headers: {}, body: undefined, accepts: (...a: string[]) => a[0], path: {}, query: {}, header: {}, cookie: {} } as any);
        n++; if (r.unchecked) { unchecked++; console.log('  UNCHECKED', f, o.method, o.path, String(r.reason).slice(0, 300)); }
      } catch (e) { console.log('  FAIL', f, o.method, o.path, String((e as Error).message).slice(0, 300)); }
      if (performance.now() - t1 > 1000) slow.push(`${o.id} ${Math.round(performance.now() - t1)}`);
    }
    total += ops.length; good += n;
    console.log(f, `${n} of ${ops.length}; broken ${broken.size}, problems ${problems.length}`, Math.round(performance.now() - t), 'ms', slow.join(' '));
  } catch (e) { console.log(f, 'ERROR', String((e as Error).message).slice(0, 300)); }
}
console.log({ total, good, unchecked });
