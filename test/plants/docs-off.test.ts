import { expect, test } from '@jest/globals';
import { runPlants } from './support/plants.ts';

test('with DOCS=off, a service serves neither the page nor the document', async () => {
  const [on, off] = await Promise.all([runPlants(), runPlants({ DOCS: 'off' })]);
  try {
    for (const path of ['/docs', '/openapi.yaml', '/openapi.json']) {
      expect((await fetch(on.url + path)).status).toBe(200);
      expect((await fetch(off.url + path)).status).toBe(404);
    }
  } finally {
    await Promise.all([on.stop(), off.stop()]);
  }
});
