import { serve } from 'spec-first-server';
import { errorBody } from './errors.ts';
import { handlers } from './handlers.ts';

await serve({ open: { handlers }, errorBody });
