import { serve } from 'spec-first-server';
import { filesIn } from './handlers.ts';

const variables = {
  FOLDER: { default: 'data', description: 'the folder of the files', parse: String },
};

await serve({ variables, open: ({ FOLDER }) => ({ handlers: filesIn(FOLDER), location: FOLDER }) });
