import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createApp } from 'spec-first-server';
import { failedTests } from './contract-tests/failed-tests.ts';

const GAMES = join(import.meta.dirname, 'contract-tests/games.yaml');

test('the mocks of a realistic document pass', async () => {
  const document = join(import.meta.dirname, 'contract-tests/realistic.yaml');
  const app = createApp({ document, handlers: {}, missing: 'mock', accessTokens: ['token'] });
  expect(await failedTests({ document, app, credentials: 'token' })).toEqual({});
});

test('the summary counts the operations that were mocked', async () => {
  const document = join(import.meta.dirname, 'contract-tests/bookings.yaml');
  const getInvoice = () => ({ status: 204 });
  const app = createApp({ document, handlers: { getInvoice }, missing: 'mock' });
  let summary = '';
  const report = (text: string) => {
    summary = text;
  };
  expect(await failedTests({ document, app, report })).toEqual({});
  const [title, ...lines] = summary.split('\n');
  expect(title).toMatch(
    /^Contract tests: 5 of 5 operations succeeded at least once\. Mocked: 4\. /,
  );
  const mocked = lines.filter((line) => line.endsWith('), mocked'));
  expect(mocked).toHaveLength(4);
  expect(mocked.join()).not.toContain('getInvoice');
});

test('a test of an operation without success names the mock that creates its resources', async () => {
  const document = join(import.meta.dirname, 'contract-tests/bookings.yaml');
  const getBooking = () => ({ status: 404 });
  const app = createApp({ document, handlers: { getBooking }, missing: 'mock' });
  const [message] = Object.values(await failedTests({ document, app }, 'getBooking'));
  expect(message).toMatch(
    /\(6 × 404\): its resources come from createBooking, which is still a mock: implement it\n/,
  );
});

test.each(['getGame', 'listGames', 'deleteGame'])(
  'correct handlers pass beside a mock of %s',
  async (mocked) => {
    interface Received {
      readonly path: Readonly<Record<string, unknown>>;
      readonly body?: unknown;
    }
    const games = new Map<unknown, object>();
    const found = (body?: object) => (body ? { status: 200, body } : { status: 404 });
    const handlers = {
      listGames: () => ({ status: 200, body: [...games.values()] }),
      getGame: ({ path: { slug } }: Received) => found(games.get(slug)),
      putGame({ path: { slug }, body }: Received) {
        const game = { ...Object(body), slug };
        games.set(slug, game);
        return { status: 200, body: game };
      },
      deleteGame: ({ path: { slug } }: Received) => ({ status: games.delete(slug) ? 204 : 404 }),
    };
    const written = Object.entries(handlers).filter(([name]) => name !== mocked);
    const app = createApp({
      document: GAMES,
      handlers: Object.fromEntries(written),
      missing: 'mock',
    });
    expect(await failedTests({ document: GAMES, app })).toEqual({});
  },
);
