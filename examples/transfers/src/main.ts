import { serve } from 'spec-first-server';
import { openAccounts } from './handlers.ts';

const variables = {
  DATABASE_FILE: {
    default: 'accounts.db',
    description: 'the SQLite file of the accounts',
    parse: String,
  },
};

await serve({ variables, open: ({ DATABASE_FILE }) => openAccounts(DATABASE_FILE) });
