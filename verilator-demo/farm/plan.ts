/** What the farm runs: workloads at a row of commits, with other seeds each night, and what each of the seeded regressions changes. */

/** A model of the core: parameters of rtl/top.sv. */
export type Parameters = Readonly<Record<string, number>>;

export interface Regression {
  readonly program: string;
  readonly config: string;
  /** Number of the commit from which on it is there. */
  readonly since: number;
  /** What it is: other parameters of the core, or the slow version of the program. */
  readonly change: Parameters | 'program';
}

export interface Plan {
  readonly configs: Readonly<Record<string, Parameters>>;
  readonly programs: readonly string[];
  readonly commits: number;
  readonly seeds: number;
  readonly regressions: readonly Regression[];
  /** The commit since which regressions are looked for. */
  readonly since: number;
}

export interface PlannedRun {
  readonly name: string;
  readonly program: string;
  readonly parameters: Parameters;
  readonly isSlow: boolean;
  readonly seed: number;
  readonly tags: Readonly<Record<string, string>>;
}

/** 10 programs, 2 cores, 10 commits, 5 seeds: 1,000 runs. */
export const WHOLE: Plan = {
  configs: { base: {}, narrow: { DCacheWays: 1, MissPenalty: 20 } },
  programs: [
    'sort',
    'search',
    'matrix',
    'divide',
    'stream',
    'chase',
    'classify',
    'calls',
    'copy',
    'straight',
  ],
  commits: 10,
  seeds: 5,
  since: 5,
  regressions: [
    { program: 'chase', config: 'base', since: 5, change: { DCacheSets: 8 } },
    { program: 'divide', config: 'base', since: 6, change: { DivBitsPerCycle: 1 } },
    { program: 'sort', config: 'base', since: 7, change: { BranchEntries: 4 } },
    { program: 'calls', config: 'base', since: 5, change: { ReturnDepth: 2 } },
    { program: 'matrix', config: 'narrow', since: 8, change: { MulLatency: 5 } },
    { program: 'straight', config: 'narrow', since: 6, change: { ICacheSets: 16 } },
    { program: 'stream', config: 'base', since: 9, change: { MissPenalty: 14 } },
    { program: 'search', config: 'narrow', since: 7, change: 'program' },
    { program: 'classify', config: 'narrow', since: 8, change: 'program' },
    { program: 'copy', config: 'base', since: 6, change: 'program' },
  ],
};

/** For tests: one core, and only programs that change. */
export const SHORT: Plan = {
  configs: { base: {} },
  programs: ['matrix', 'search', 'copy', 'classify'],
  commits: 5,
  seeds: 2,
  since: 2,
  regressions: [
    { program: 'matrix', config: 'base', since: 3, change: 'program' },
    { program: 'search', config: 'base', since: 2, change: 'program' },
    { program: 'copy', config: 'base', since: 3, change: 'program' },
  ],
};

export const commitName = (number: number): string => `c${String(number).padStart(2, '0')}`;
export const workloadName = (program: string, config: string): string =>
  `config=${config} program=${program}`;

export function runsOf({ configs, programs, commits, seeds, regressions }: Plan): PlannedRun[] {
  const runs: PlannedRun[] = [];
  for (const program of programs) {
    for (const [config, parameters] of Object.entries(configs)) {
      const present = (commit: number): readonly Regression[] =>
        regressions.filter((one) => one.program === program && one.config === config && one.since <= commit);
      for (let commit = 0; commit < commits; commit++) {
        for (let night = 0; night < seeds; night++) {
          // No two runs have the same data.
          const seed = 1 + night + seeds * (commit + commits * programs.indexOf(program));
          const changes = present(commit).map(({ change }) => change);
          runs.push({
            name: `${program}-${config}-${commitName(commit)}-${night}`,
            program,
            parameters: Object.assign({}, parameters, ...changes.filter((one) => one !== 'program')),
            isSlow: changes.includes('program'),
            seed,
            tags: {
              program,
              config,
              commit: commitName(commit),
              // One a day.
              commit_time: new Date(Date.UTC(2026, 0, 1 + commit)).toISOString().slice(0, 10),
              seed: String(seed),
            },
          });
        }
      }
    }
  }
  return runs;
}
