export interface Station {
  readonly name: string;
  readonly celsius: number;
}

const STATIONS: readonly Station[] = [
  { name: 'Harbour', celsius: 11.5 },
  { name: 'Airport', celsius: 9 },
  { name: 'Summit', celsius: -4.5 },
];

export function stationOf(id: number): Station {
  const station = STATIONS[id - 1];
  if (station === undefined) throw new Error(`no station ${id}`);
  return station;
}
