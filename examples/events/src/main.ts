import { serve } from 'spec-first-server';
import { handlers } from './handlers.ts';

await serve({ open: { handlers } });
