import { serve } from 'spec-first-server';
import { errorBody } from './errors.ts';
import { formats } from './formats.ts';
import { openShop } from './shop.ts';

const variables = {
  DATABASE_URL: {
    default: 'sqlite:data/shop.db',
    description: 'sqlite:FILE, or the URL of a PostgreSQL database',
    parse: String,
  },
  REQUESTS_PER_MINUTE: {
    default: '600',
    description: 'the maximum number of requests per customer',
    parse(text: string): number {
      if (!/^[1-9]\d{0,5}$/.test(text)) throw new Error('an integer from 1 to 999999');
      return Number(text);
    },
  },
};

await serve({
  variables,
  errorBody,
  formats,
  open: ({ DATABASE_URL, REQUESTS_PER_MINUTE }, { warn }) =>
    openShop({
      databaseUrl: DATABASE_URL,
      requestsPerMinute: REQUESTS_PER_MINUTE,
      onError: (error) => warn(`a report failed: ${error}`),
    }),
});
