import { serve } from 'spec-first-server';
import { errorBody } from './errors.ts';
import { openLibrary, variables } from './handlers.ts';

await serve({ open: openLibrary, variables, errorBody });
