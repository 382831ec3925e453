// SPDX-License-Identifier: Apache-2.0
// A cycle-approximate out-of-order core in plain C++: fetch with a predictor, a re-order buffer, two issue
// queues, a store queue and a data cache. Instructions are executed when they are fetched (program.hpp); the
// model says in which cycles a core would have done that. After a branch that was predicted wrongly it
// fetches from the wrong path until the branch is executed.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <memory>
#include <utility>

#include "program.hpp"
#include "uscope.hpp"
#include "uscope_cpu.h"

constexpr unsigned WIDTH = 4, ROB = 64, INT_QUEUE = 16, MEM_QUEUE = 12, STORE_QUEUE = 8, FETCH_BUFFER = 16;
constexpr unsigned ALUS = 3, MUL_CYCLES = 3, HIT_CYCLES = 3, MISS_CYCLES = 20, FRONTEND_CYCLES = 3;
constexpr std::uint64_t NEVER = ~std::uint64_t{0};

enum class stage : unsigned { fetch, dispatch, execute, complete };
enum class counter : unsigned {
    cycles,
    committed_insns,
    squashed_insns,
    branches,
    mispredicts,
    loads,
    loads_forwarded,
    stores,
    dcache_misses
};
constexpr const char *COUNTERS[] = {"cycles",          "committed_insns", "squashed_insns",
                                    "branches",        "mispredicts",     "loads",
                                    "loads_forwarded", "stores",          "dcache_misses"};
enum class stall : unsigned { rob_full, int_queue_full, mem_queue_full, store_queue_full, fetch_bubble };

struct instruction {
    decoded code;
    std::uint32_t pc, address;
    unsigned id; // of its entity in the trace
    bool wrong_path, mispredicted;
    stage where = stage::fetch;
    std::uint64_t ready, done = NEVER; // cycles: may be dispatched, has its result
    std::uint64_t producers[2] = {NEVER, NEVER};
    int rob_slot = 0, queue_slot = 0;
};

/** Two-bit counters by address. */
struct predictor {
    std::array<std::uint8_t, 64> counters{};
    bool predict(std::uint32_t pc) const
    {
        return counters[pc >> 2 & 63] >= 2;
    }
    void learn(std::uint32_t pc, bool taken)
    {
        std::uint8_t &counter = counters[pc >> 2 & 63];
        if (taken && counter < 3) counter++;
        if (!taken && counter > 0) counter--;
    }
};

/** Direct mapped, 4 KiB in lines of 64 bytes. */
struct cache {
    std::array<std::uint32_t, 64> lines{};
    bool access(std::uint32_t address)
    {
        const std::uint32_t line = address / 64;
        return std::exchange(lines[line % lines.size()], line) == line;
    }
};

class core
{
  public:
    core(const uscope::trace &trace, std::vector<decoded> code)
        : trace_(trace), cpu_(uscope_cpu_new(trace.get(), "core0")), code_(std::move(code))
    {
        last_writer_.fill(NEVER);
        for (const char *name : COUNTERS)
            counters_.push_back(uscope_cpu_counter(cpu_.get(), name));
    }
    void run()
    {
        do {
            trace_.begin_cycle(cycle_ * 1000);
            commit();
            complete();
            issue();
            dispatch();
            fetch();
            drain();
            count(counter::cycles);
            trace_.end_cycle();
            cycle_++;
        } while (!flying_.empty() || !stores_.empty() || machine_.pc != 0);
    }
    std::uint64_t cycles() const
    {
        return cycle_;
    }
    std::uint64_t committed() const
    {
        return committed_;
    }
    std::uint32_t sum() const
    {
        return machine_.x[13];
    }

  private:
    // -- instructions in flight have consecutive numbers: the oldest is first_

    std::uint64_t next() const
    {
        return first_ + flying_.size();
    }
    bool is_done(std::uint64_t number) const
    {
        return number == NEVER || number < first_ || flying_[number - first_].done <= cycle_;
    }

    // -- stages, from the last to the first

    void commit()
    {
        for (unsigned n = 0; n < WIDTH && dispatched_ > 0; n++) {
            instruction &one = flying_.front();
            if (one.where != stage::complete) return;
            uscope_cpu_pop(cpu_.get(), rob_);
            uscope_cpu_retire(cpu_.get(), one.id);
            if (one.code.what == op::sw) {
                pending &store = *std::find_if(stores_.begin(), stores_.end(),
                                               [&](const pending &s) { return s.number == first_; });
                store.committed = true;
                uscope_cpu_buffer_set(cpu_.get(), store_queue_, store.slot, committed_field_, 1);
            }
            count(counter::committed_insns);
            committed_++;
            flying_.pop_front();
            first_++;
            dispatched_--;
        }
    }

    void complete()
    {
        for (std::size_t i = 0; i < dispatched_; i++) {
            instruction &one = flying_[i];
            if (one.where != stage::execute || one.done > cycle_) continue;
            enter(one, stage::complete);
            uscope_cpu_buffer_set(cpu_.get(), rob_, one.rob_slot, completed_field_, 1);
            if (one.mispredicted) {
                squash_after(i);
                return;
            }
        }
    }

    /** The youngest first, out of all buffers of the trace too. */
    void squash_after(std::size_t kept)
    {
        const unsigned squashed = uscope_cpu_flush_younger(cpu_.get(), flying_[kept].id, 0 /* mispredict */);
        count(counter::squashed_insns, squashed);
        for (std::size_t i = kept + 1; i < dispatched_; i++)
            if (flying_[i].where == stage::dispatch) (flying_[i].code.is_memory() ? mem_used_ : int_used_)--;
        stores_.erase(std::remove_if(stores_.begin(), stores_.end(),
                                     [&](const pending &s) { return s.number > first_ + kept; }),
                      stores_.end());
        flying_.resize(kept + 1);
        dispatched_ = std::min(dispatched_, flying_.size());
        on_wrong_path_ = false;
        last_writer_.fill(NEVER);
        for (std::size_t i = 0; i < dispatched_; i++)
            if (flying_[i].code.rd) last_writer_[flying_[i].code.rd] = first_ + i;
    }

    void issue()
    {
        unsigned alus = 0, muls = 0, memory = 0;
        for (std::size_t i = 0; i < dispatched_; i++) {
            instruction &one = flying_[i];
            if (one.where != stage::dispatch || !is_done(one.producers[0]) || !is_done(one.producers[1]))
                continue;
            const bool is_mul = one.code.what == op::mul, is_memory = one.code.is_memory();
            unsigned &used = is_memory ? memory : is_mul ? muls : alus;
            if (used == (is_memory || is_mul ? 1 : ALUS)) continue;
            const unsigned latency = is_memory ? access(one, first_ + i) : is_mul ? MUL_CYCLES : 1;
            if (latency == 0) continue; // waits for an older store
            used++;
            uscope_cpu_remove(cpu_.get(), is_memory ? mem_queue_ : int_queue_, one.queue_slot);
            (is_memory ? mem_used_ : int_used_)--;
            one.done = cycle_ + latency;
            enter(one, stage::execute);
        }
    }

    /** Cycles that it takes; 0: an older store to the same place has no data yet. */
    unsigned access(const instruction &one, std::uint64_t number)
    {
        if (one.code.what == op::sw || one.wrong_path) return 1;
        for (auto at = stores_.rbegin(); at != stores_.rend(); ++at) {
            if (at->number > number || at->address != one.address) continue;
            if (!is_done(at->number)) return 0;
            count(counter::loads_forwarded);
            count(counter::loads);
            return 1;
        }
        count(counter::loads);
        if (cache_.access(one.address)) return HIT_CYCLES;
        count(counter::dcache_misses);
        return MISS_CYCLES;
    }

    void dispatch()
    {
        for (unsigned n = 0; n < WIDTH; n++) {
            const int why = obstacle();
            if (why >= 0) {
                if (n == 0) uscope_cpu_stall(cpu_.get(), static_cast<unsigned>(why));
                return;
            }
            instruction &one = flying_[dispatched_];
            uscope_cpu_pop(cpu_.get(), fetch_buffer_);
            one.rob_slot = uscope_cpu_push(cpu_.get(), rob_, one.id);
            one.queue_slot =
                uscope_cpu_push(cpu_.get(), one.code.is_memory() ? mem_queue_ : int_queue_, one.id);
            (one.code.is_memory() ? mem_used_ : int_used_)++;
            enter(one, stage::dispatch);
            depend(one, 0, one.code.rs1);
            depend(one, 1, one.code.rs2);
            if (one.code.rd) last_writer_[one.code.rd] = first_ + dispatched_;
            if (one.code.is_memory() && !one.wrong_path) remember(one);
            dispatched_++;
        }
    }
    int obstacle() const
    {
        if (flying_.size() == dispatched_ || flying_[dispatched_].ready > cycle_)
            return static_cast<int>(stall::fetch_bubble);
        const instruction &one = flying_[dispatched_];
        if (dispatched_ == ROB) return static_cast<int>(stall::rob_full);
        if (!one.code.is_memory() && int_used_ == INT_QUEUE) return static_cast<int>(stall::int_queue_full);
        if (one.code.is_memory() && mem_used_ == MEM_QUEUE) return static_cast<int>(stall::mem_queue_full);
        const bool is_store = one.code.what == op::sw && !one.wrong_path;
        return is_store && stores_.size() == STORE_QUEUE ? static_cast<int>(stall::store_queue_full) : -1;
    }
    void depend(instruction &one, unsigned operand, unsigned reg)
    {
        const std::uint64_t producer = reg ? last_writer_[reg] : NEVER;
        one.producers[operand] = producer;
        if (!is_done(producer))
            uscope_cpu_dependency(cpu_.get(), flying_[producer - first_].id, one.id, 0 /* raw */);
    }
    void remember(const instruction &one)
    {
        uscope_cpu_buffer_set(cpu_.get(), mem_queue_, one.queue_slot, addr_field_, one.address);
        if (one.code.what != op::sw) return;
        const int slot = uscope_cpu_push(cpu_.get(), store_queue_, one.id);
        uscope_cpu_buffer_set(cpu_.get(), store_queue_, slot, store_addr_field_, one.address);
        stores_.push_back({first_ + dispatched_, one.address, slot, false});
    }

    void fetch()
    {
        for (unsigned n = 0; n < WIDTH && flying_.size() - dispatched_ < FETCH_BUFFER; n++) {
            const std::uint32_t pc = on_wrong_path_ ? wrong_pc_ : machine_.pc;
            const std::size_t at = (pc - START) / 4;
            if (pc == 0 || at >= code_.size()) return;
            instruction one{};
            one.code = code_[at];
            one.pc = pc;
            one.ready = cycle_ + FRONTEND_CYCLES;
            one.wrong_path = on_wrong_path_;
            one.id = uscope_cpu_fetch(cpu_.get(), pc, one.code.bits);
            if (one.wrong_path) uscope_cpu_set(cpu_.get(), one.id, wrong_path_field_, 1);
            follow(one);
            enter(one, stage::fetch);
            uscope_cpu_push(cpu_.get(), fetch_buffer_, one.id);
            flying_.push_back(one);
        }
    }
    /** Where fetching continues: what the predictor says, while the program goes its way. */
    void follow(instruction &one)
    {
        const bool guess = one.code.is_branch() && predictor_.predict(one.pc);
        const std::uint32_t guessed = one.pc + (guess ? static_cast<std::uint32_t>(one.code.immediate) : 4);
        wrong_pc_ = guessed;
        if (one.wrong_path) return;
        const effect made = machine_.execute(one.code);
        one.address = made.address;
        machine_.pc = made.next;
        if (one.code.what == op::sw) count(counter::stores);
        if (!one.code.is_branch()) return;
        count(counter::branches);
        predictor_.learn(one.pc, made.taken);
        one.mispredicted = on_wrong_path_ = guess != made.taken;
        if (one.mispredicted) count(counter::mispredicts);
    }

    /** One committed store is written in a cycle. */
    void drain()
    {
        if (stores_.empty() || !stores_.front().committed) return;
        if (!cache_.access(stores_.front().address)) count(counter::dcache_misses);
        uscope_cpu_pop(cpu_.get(), store_queue_);
        stores_.pop_front();
    }

    void enter(instruction &one, stage where)
    {
        one.where = where;
        uscope_cpu_stage(cpu_.get(), one.id, static_cast<unsigned>(where));
    }
    void count(counter of, unsigned by = 1)
    {
        uscope_cpu_count(cpu_.get(), counters_[static_cast<unsigned>(of)], by);
    }
    int buffer(const char *name) const
    {
        return uscope_cpu_buffer(cpu_.get(), name);
    }
    int field(int of, const char *name) const
    {
        return uscope_cpu_buffer_field(cpu_.get(), of, name);
    }

    struct pending {
        std::uint64_t number;
        std::uint32_t address;
        int slot;
        bool committed;
    };
    struct freed {
        void operator()(uscope_cpu_t *cpu) const
        {
            uscope_cpu_free(cpu);
        }
    };
    const uscope::trace &trace_;
    std::unique_ptr<uscope_cpu_t, freed> cpu_;
    std::vector<decoded> code_;
    machine machine_;
    predictor predictor_;
    cache cache_;
    std::deque<instruction> flying_; // the first dispatched_ of them are in the re-order buffer
    std::deque<pending> stores_;
    std::array<std::uint64_t, 32> last_writer_{};
    std::size_t dispatched_ = 0;
    std::uint64_t cycle_ = 0, first_ = 0, committed_ = 0;
    unsigned int_used_ = 0, mem_used_ = 0;
    std::uint32_t wrong_pc_ = 0;
    bool on_wrong_path_ = false;
    // in the trace
    std::vector<int> counters_;
    const int rob_ = buffer("rob"), fetch_buffer_ = buffer("fetch_buffer"), int_queue_ = buffer("int_queue"),
              mem_queue_ = buffer("mem_queue"), store_queue_ = buffer("store_queue"),
              completed_field_ = field(rob_, "completed"), addr_field_ = field(mem_queue_, "addr"),
              store_addr_field_ = field(store_queue_, "addr"),
              committed_field_ = field(store_queue_, "committed"),
              wrong_path_field_ = uscope_cpu_field(cpu_.get(), "wrong_path");
};

int main()
{
    try {
        uscope::trace trace(uscope::options("ooo"));
        core model(trace, program(500));
        model.run();
        trace.close();
        std::printf("cycles %llu, committed %llu, sum %u\n", static_cast<unsigned long long>(model.cycles()),
                    static_cast<unsigned long long>(model.committed()), model.sum());
    } catch (const uscope::error &e) {
        std::fprintf(stderr, "%s: %s\n", e.code().c_str(), e.what());
        return 1;
    }
}
