// The suites share one PostgreSQL server: a start takes more time than most of their tests.
import './acknowledgements.ts';
import './connections.ts';
import './database.ts';
import './tls.ts';
import { useServer } from './support.ts';

useServer();
