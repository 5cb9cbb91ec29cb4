import { join } from 'node:path';
import { launchBrowser } from '../../test/support/chromium.ts';
import { endAll, launch } from '../../test/support/launch.ts';

/** Saves pictures of the page with an operation that was tried, `page-light.png` and `page-dark.png`. */
export async function photographPage(folder: string): Promise<void> {
  const service = launch({ ACCESS_TOKENS: 'your-token', PORT: '3000' });
  const browser = await launchBrowser();
  try {
    const url = await service.url;
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await browser.newPage({ colorScheme, viewport: { width: 1000, height: 1100 } });
      await page.goto(`${url}/docs#/plants/createPlant`);
      await page.click('.btn.authorize');
      await page.fill('.modal-ux input', 'your-token');
      await page.click('.modal-ux .btn.authorize');
      await page.click('.modal-ux .close-modal');
      const operation = page.locator('#operations-plants-createPlant');
      await operation.locator('.try-out__btn').click();
      await operation.locator('textarea').fill('{\n  "id": 1,\n  "name": "Monstera deliciosa",\n  "tag": "climber"\n}');
      await operation.locator('.execute').click();
      await operation.locator('.live-responses-table').waitFor();
      await operation.locator('.snippet', { hasText: 'JavaScript' }).locator('summary').click();
      await operation.locator('.opblock-section-request-body').evaluate((element) => element.scrollIntoView());
      await page.screenshot({ path: join(folder, `page-${colorScheme}.png`) });
      await page.close();
    }
  } finally {
    await browser.close();
    await endAll();
  }
}
