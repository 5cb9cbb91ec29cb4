import { serve } from 'spec-first-server';
import { filesIn } from './handlers.ts';

const variables = {
  FOLDER: { default: 'data', description: 'the folder that keeps the files', parse: String },
};

await serve({ variables, open: ({ FOLDER }) => ({ handlers: filesIn(FOLDER), location: FOLDER }) });
