import { after, before, test } from 'node:test';
import { contractTests } from 'spec-first/contract-tests';
import { testService } from 'spec-first/testing';

const service = testService();
before(service.start);
after(service.stop);
await contractTests({ ...service, test });
