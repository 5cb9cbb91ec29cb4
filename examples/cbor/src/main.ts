import { serve } from 'spec-first-server';
import { codecs } from './codecs.ts';
import { handlers } from './handlers.ts';

await serve({ codecs, open: { handlers } });
