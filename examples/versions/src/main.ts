import { serve } from 'spec-first-server';
import { v1 } from './v1.ts';
import { v2 } from './v2.ts';

await serve({
  documents: { v1: 'v1/openapi.yaml', v2: 'openapi.yaml' },
  open: { documents: { v1: { handlers: v1 }, v2: { handlers: v2 } } },
});
