import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { StoreLimits } from '../../src/stores/index.ts';
import { type PlantStore, type StoredPlant, StoreUnavailable, Unstorable } from '../../src/stores/store.ts';

/** A store over an empty database, as the tests of the contract need it. */
export interface StoreUnderTest {
  readonly store: PlantStore;
  /** Opens one more store over the same database, whether or not the first is closed. */
  another(): Promise<PlantStore>;
  /** Reads past the store. */
  read(id: bigint): Promise<{ name: string; tag: string | undefined } | undefined>;
  /** Closes every store that was opened, and removes the database. */
  dispose(): Promise<void>;
}

/** Proves that a store keeps the contract of PlantStore; `holdsNul` says whether it can hold U+0000. */
export function describeStore(
  name: string,
  open: (limits: StoreLimits) => Promise<StoreUnderTest>,
  { holdsNul }: { readonly holdsNul: boolean },
): void {
  describe(`${name}, as any store,`, () => {
    let under: StoreUnderTest;
    let store: PlantStore;

    async function start(limits: StoreLimits): Promise<void> {
      under = await open(limits);
      store = under.store;
    }

    async function expectStored(...plants: readonly StoredPlant[]): Promise<void> {
      for (const { id, name, tag } of plants) expect({ id, ...(await under.read(id)) }).toEqual({ id, name, tag });
    }

    beforeEach(() => start({ maxWaiting: 1_000 }));
    afterEach(() => under.dispose());

    test('adds a new plant', async () => {
      expect(await store.add({ id: 1n, name: 'Monstera', tag: 'tropical' })).toBe('added');
      await expectStored({ id: 1n, name: 'Monstera', tag: 'tropical' });
      expect(await under.read(2n)).toBeUndefined();
    });

    test('leaves a plant unchanged that is added again', async () => {
      const plants: StoredPlant[] = [
        { id: 1n, name: 'Monstera', tag: 'tropical' },
        { id: 2n, name: '', tag: '' },
        { id: 3n, name: 'Fern' },
      ];
      for (const plant of plants) expect(await store.add(plant)).toBe('added');
      for (const plant of plants) expect(await store.add(plant)).toBe('unchanged');
      await expectStored(...plants);
    });

    test.each<[string, StoredPlant, StoredPlant]>([
      ['another name', { id: 1n, name: 'Monstera', tag: 'a' }, { id: 1n, name: 'Fern', tag: 'a' }],
      ['another tag', { id: 1n, name: 'Monstera', tag: 'a' }, { id: 1n, name: 'Monstera', tag: 'b' }],
      ['a tag more', { id: 1n, name: 'Monstera' }, { id: 1n, name: 'Monstera', tag: 'a' }],
      ['a tag less', { id: 1n, name: 'Monstera', tag: 'a' }, { id: 1n, name: 'Monstera' }],
      ['an empty tag instead of none', { id: 1n, name: 'Monstera' }, { id: 1n, name: 'Monstera', tag: '' }],
      ['no tag instead of an empty one', { id: 1n, name: 'Monstera', tag: '' }, { id: 1n, name: 'Monstera' }],
      ['other capitals', { id: 1n, name: 'monstera' }, { id: 1n, name: 'Monstera' }],
      ['a space more', { id: 1n, name: 'Monstera' }, { id: 1n, name: 'Monstera ' }],
      ['another Unicode normal form', { id: 1n, name: 'r\u00e9s' }, { id: 1n, name: 're\u0301s' }],
    ])('reports a conflict for %s, and keeps the first plant', async (_, first, second) => {
      expect(await store.add(first)).toBe('added');
      expect(await store.add(second)).toBe('conflict');
      await expectStored(first);
      expect(await store.add(first)).toBe('unchanged');
    });

    test('gives racing adds with one id exactly one winner, from one store and from two', async () => {
      const other = await under.another();
      for (let id = 0n; id < 20n; id++) {
        const plants = Array.from({ length: 8 }, (_, racer) => ({ id, name: `racer ${racer}` }));
        const outcomes = await Promise.all(
          plants.map((plant, racer) => (id >= 10n && racer % 2 === 1 ? other : store).add(plant)),
        );
        expect(outcomes.toSorted()).toEqual(['added', ...Array.from({ length: 7 }, () => 'conflict')]);
        await expectStored({ id, name: `racer ${outcomes.indexOf('added')}` });
      }
    });

    test('adds a plant once that is sent many times at once', async () => {
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => store.add({ id: 7n, name: 'Fern' })));
      expect(outcomes.toSorted()).toEqual(['added', ...Array.from({ length: 19 }, () => 'unchanged')]);
    });

    test('tells each of many adds at once its own outcome', async () => {
      await Promise.all([store.add({ id: 0n, name: 'kept' }), store.add({ id: 3n, name: 'plant 3' })]);
      const outcomes = await Promise.all(
        Array.from({ length: 900 }, (_, id) => store.add({ id: BigInt(id), name: `plant ${id}` })),
      );
      expect(outcomes).toEqual(
        Array.from({ length: 900 }, (_, id) => (id === 0 ? 'conflict' : id === 3 ? 'unchanged' : 'added')),
      );
    });

    test('keeps every id of int64 apart from its neighbours', async () => {
      const ids = [-(2n ** 63n), -(2n ** 53n), 0n, 2n ** 53n, 2n ** 63n - 1n]
        .flatMap((id) => [id - 2n, id - 1n, id, id + 1n, id + 2n])
        .filter((id) => BigInt.asIntN(64, id) === id);
      const plants = ids.map((id) => ({ id, name: `plant ${id}` }));
      for (const plant of plants) expect(await store.add(plant)).toBe('added');
      for (const plant of plants) expect(await store.add(plant)).toBe('unchanged');
      await expectStored(...plants);
    });

    test('agrees with a map in memory, whatever plants come', async () => {
      const model = new Map<bigint, StoredPlant>();
      const text = fc.string({ unit: 'binary', maxLength: 40 });
      const plants = fc.array(
        fc.record({
          id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
          name: text,
          tag: fc.option(text, { nil: undefined }),
        }),
        { minLength: 1, maxLength: 30 },
      );
      await fc.assert(
        fc.asyncProperty(plants, async (batch) => {
          const outcomes = await Promise.allSettled(batch.map((plant) => store.add(plant)));
          for (const [at, plant] of batch.entries()) {
            if (!holdsNul && `${plant.name}${plant.tag ?? ''}`.includes('\0')) {
              expect(outcomes[at]).toEqual({ status: 'rejected', reason: expect.any(Unstorable) });
              continue;
            }
            const there = model.get(plant.id);
            const same = there?.name === plant.name && there.tag === plant.tag;
            const value = there === undefined ? 'added' : same ? 'unchanged' : 'conflict';
            expect(outcomes[at]).toEqual({ status: 'fulfilled', value });
            if (there === undefined) model.set(plant.id, plant);
          }
        }),
        { numRuns: 50 },
      );
      expect(model.size).toBeGreaterThan(50);
      await expectStored(...model.values());
    });

    test('holds every code point of Unicode but the surrogates', async () => {
      const plants: StoredPlant[] = [];
      for (let first = 0; first < 0x110000; first += 0x4000) {
        const points = Array.from({ length: 0x4000 }, (_, n) => first + n);
        const sound = points.filter((point) => (point < 0xd800 || point > 0xdfff) && (holdsNul || point > 0));
        plants.push({
          id: BigInt(first),
          name: sound.map((point) => String.fromCodePoint(point)).join(''),
          tag: '\u{10ffff}\r\n\t\'";--%s$1\\\u{1f331}',
        });
      }
      expect(new Set(await Promise.all(plants.map((plant) => store.add(plant))))).toEqual(new Set(['added']));
      await expectStored(...plants);
    });

    test.each<[string, StoredPlant]>([
      ['/body/name', { id: 1n, name: '\ud800' }],
      ['/body/name', { id: 1n, name: 'a\udfffb', tag: '' }],
      ['/body/tag', { id: 1n, name: 'Fern', tag: '\udc00\ud800' }],
    ])('refuses a lone surrogate in %s, and stores nothing', async (property, plant) => {
      const outcomes = await Promise.allSettled([store.add(plant), store.add({ id: 2n, name: 'Fern' })]);
      expect(outcomes).toEqual([
        { status: 'rejected', reason: expect.any(Unstorable) },
        { status: 'fulfilled', value: 'added' },
      ]);
      await expect(store.add(plant)).rejects.toThrow(property);
      expect(await under.read(1n)).toBeUndefined();
    });

    test('still has every acknowledged plant when it is opened again', async () => {
      const plants = Array.from({ length: 200 }, (_, id) => ({ id: BigInt(id), name: `plant ${id}`, tag: `${id}` }));
      await Promise.all(plants.map((plant) => store.add(plant)));
      await store.close();
      const again = await under.another();
      expect(new Set(await Promise.all(plants.map((plant) => again.add(plant))))).toEqual(new Set(['unchanged']));
      await expectStored(...plants);
    });

    test('refuses at once what is more than may wait, and takes plants again afterwards', async () => {
      await under.dispose();
      await start({ maxWaiting: 8 });
      const order: string[] = [];
      const adds = Array.from({ length: 20 }, async (_, id) => {
        try {
          return await store.add({ id: BigInt(id), name: 'Fern' });
        } finally {
          order.push(id < 8 ? 'waited' : 'at once');
        }
      });
      expect(store.stats()).toEqual({ waiting: 8 });
      const outcomes = await Promise.allSettled(adds);
      expect(outcomes.slice(0, 8)).toEqual(Array.from({ length: 8 }, () => ({ status: 'fulfilled', value: 'added' })));
      for (const outcome of outcomes.slice(8)) {
        expect(outcome).toEqual({ status: 'rejected', reason: expect.any(StoreUnavailable) });
        expect(outcome).toHaveProperty('reason.retryAfter', 1);
      }
      expect(order.slice(0, 12)).toEqual(Array.from({ length: 12 }, () => 'at once'));
      expect(store.stats()).toEqual({ waiting: 0 });
      expect(await under.read(8n)).toBeUndefined();
      expect(await store.add({ id: 8n, name: 'Fern' })).toBe('added');
    });

    test('finishes what is waiting when it closes, and takes nothing more', async () => {
      const adds = Array.from({ length: 100 }, (_, id) => store.add({ id: BigInt(id), name: 'Fern' }));
      const closed = store.close();
      await expect(store.add({ id: 100n, name: 'Fern' })).rejects.toThrow(StoreUnavailable);
      await closed;
      expect(store.stats()).toEqual({ waiting: 0 });
      expect(new Set(await Promise.all(adds))).toEqual(new Set(['added']));
      await expectStored({ id: 0n, name: 'Fern' }, { id: 99n, name: 'Fern' });
      expect(await under.read(100n)).toBeUndefined();
    });

    test('may be closed twice', async () => {
      await Promise.all([store.close(), store.close()]);
      await store.close();
    });

    test('is ready while it is open, also when many ask at once', async () => {
      await Promise.all(Array.from({ length: 50 }, () => store.ready()));
      await store.close();
      await expect(store.ready()).rejects.toThrow(StoreUnavailable);
    });
  });
}
