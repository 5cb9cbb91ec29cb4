/** Makes the pictures of the documentation again, from a real run: `npm run pictures`. Needs `script` of util-linux. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordDevelopment } from './recording.ts';
import { photographPage } from './screenshots.ts';
import { animate } from './svg.ts';

const folder = join(import.meta.dirname, '../../docs/pictures');

writeFileSync(join(folder, 'dev.svg'), animate(await recordDevelopment()));
await photographPage(folder);
console.log(`Written to ${folder}`);
