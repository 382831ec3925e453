// SPDX-License-Identifier: Apache-2.0
// A virtual platform in TLM-2.0: a processor and a DMA engine share a bus with two memories, and the DMA
// interrupts the processor. Each transfer is recorded in four layers: the task or job, the initiator's
// access, what the bus asks of a memory controller, and what that asks of the memory.
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include "uscope_systemc.hpp"

using namespace sc_core;
using tlm::tlm_generic_payload;

constexpr std::uint64_t RAM_SIZE = 4096, DMA_BASE = 0x10000;

SC_MODULE(ram)
{
    tlm_utils::simple_target_socket<ram> socket{"socket"};
    std::vector<unsigned char> bytes = std::vector<unsigned char>(RAM_SIZE);
    SC_CTOR(ram)
    {
        socket.register_b_transport(this, &ram::b_transport);
    }
    void b_transport(tlm_generic_payload & trans, sc_time & delay)
    {
        const std::uint64_t at = trans.get_address();
        if (at + trans.get_data_length() > bytes.size()) {
            trans.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
            return;
        }
        if (trans.is_write())
            std::memcpy(&bytes[at], trans.get_data_ptr(), trans.get_data_length());
        else
            std::memcpy(trans.get_data_ptr(), &bytes[at], trans.get_data_length());
        delay += sc_time(20, SC_NS);
        trans.set_response_status(tlm::TLM_OK_RESPONSE);
    }
};

/** In front of a memory: opening another row of it takes time. */
SC_MODULE(controller)
{
    tlm_utils::simple_target_socket<controller> socket{"socket"};
    tlm_utils::simple_initiator_socket<controller> memory{"memory"};
    std::uint64_t row = ~std::uint64_t{0};
    SC_CTOR(controller)
    {
        socket.register_b_transport(this, &controller::b_transport);
    }
    void b_transport(tlm_generic_payload & trans, sc_time & delay)
    {
        const std::uint64_t wanted = trans.get_address() / 64;
        if (wanted != row) delay += sc_time(30, SC_NS);
        row = wanted;
        memory->b_transport(trans, delay);
    }
};

/** The first memory begins at 0, the second after it, the registers of the DMA at DMA_BASE. */
SC_MODULE(bus)
{
    tlm_utils::simple_target_socket_tagged<bus> cpu{"cpu"}, dma{"dma"};
    tlm_utils::simple_initiator_socket_tagged<bus> ram0{"ram0"}, ram1{"ram1"}, regs{"regs"};
    sc_mutex owner{"owner"};
    SC_CTOR(bus)
    {
        cpu.register_b_transport(this, &bus::b_transport, 0);
        dma.register_b_transport(this, &bus::b_transport, 1);
    }
    void b_transport(int, tlm_generic_payload &trans, sc_time &delay)
    {
        owner.lock();
        wait(delay + sc_time(5, SC_NS));
        delay = SC_ZERO_TIME;
        const std::uint64_t address = trans.get_address();
        auto &to = address >= DMA_BASE ? regs : address >= RAM_SIZE ? ram1 : ram0;
        trans.set_address(address >= DMA_BASE ? address - DMA_BASE : address % RAM_SIZE);
        to->b_transport(trans, delay);
        trans.set_address(address);
        owner.unlock();
    }
};

/** Performs accesses for an initiator, as part of a job. */
template <class Socket>
static std::uint32_t access(const uscope::tx_handle &job, Socket &socket, tlm::tlm_command command,
                            std::uint64_t address, std::uint32_t value = 0)
{
    tlm_generic_payload trans;
    trans.set_command(command);
    trans.set_address(address);
    trans.set_data_ptr(reinterpret_cast<unsigned char *>(&value));
    trans.set_data_length(4);
    trans.set_streaming_width(4);
    sc_time delay = SC_ZERO_TIME;
    const uscope::tlm_child_of child(job, trans);
    socket->b_transport(trans, delay);
    wait(delay);
    return value;
}

SC_MODULE(dma_engine)
{
    tlm_utils::simple_initiator_socket<dma_engine> memory{"memory"};
    tlm_utils::simple_target_socket<dma_engine> regs{"regs"};
    sc_signal<bool> interrupt{"interrupt"}, busy{"busy"};
    std::uint32_t registers[3] = {}; // source, destination, words: a write to the last starts
    sc_event start;
    uscope::tx_fiber jobs;
    uscope::tx_generator copy;
    SC_HAS_PROCESS(dma_engine);
    dma_engine(sc_module_name name, uscope::tx_database & db)
        : sc_module(name), jobs(db, "platform.dma.jobs", "job"), copy(jobs, "copy", {"from", "to", "words"})
    {
        regs.register_b_transport(this, &dma_engine::b_transport);
        SC_THREAD(run);
    }
    void b_transport(tlm_generic_payload & trans, sc_time & delay)
    {
        const std::uint64_t index = trans.get_address() / 4 % 3;
        std::memcpy(&registers[index], trans.get_data_ptr(), 4);
        if (index == 2) start.notify(delay);
        trans.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    void run()
    {
        for (;;) {
            wait(start);
            busy = true;
            interrupt = false;
            const auto job = copy.begin("from", registers[0], "to", registers[1], "words", registers[2]);
            for (std::uint32_t i = 0; i < registers[2]; i++)
                access(job, memory, tlm::TLM_WRITE_COMMAND, registers[1] + 4 * i,
                       access(job, memory, tlm::TLM_READ_COMMAND, registers[0] + 4 * i));
            job.end("result", "ok");
            busy = false;
            interrupt = true;
        }
    }
};

SC_MODULE(processor)
{
    tlm_utils::simple_initiator_socket<processor> socket{"socket"};
    sc_in<bool> interrupt{"interrupt"};
    sc_signal<std::uint32_t> phase{"phase"};
    unsigned wrong = 0;
    uscope::tx_fiber tasks;
    uscope::tx_generator task;
    SC_HAS_PROCESS(processor);
    processor(sc_module_name name, uscope::tx_database & db)
        : sc_module(name), tasks(db, "platform.cpu.tasks", "task"), task(tasks, "task")
    {
        SC_THREAD(run);
    }
    void run()
    {
        uscope::tx_handle last;
        for (std::uint32_t round = 0; round < 8; round++) {
            phase = round;
            const auto one = task.begin("round", round);
            last.relate("pred", one);
            last = one;
            for (std::uint32_t i = 0; i < 16; i++)
                access(one, socket, tlm::TLM_WRITE_COMMAND, 4 * i, round * 100 + i);
            access(one, socket, tlm::TLM_WRITE_COMMAND, DMA_BASE, 0);
            access(one, socket, tlm::TLM_WRITE_COMMAND, DMA_BASE + 4, RAM_SIZE);
            access(one, socket, tlm::TLM_WRITE_COMMAND, DMA_BASE + 8, 16);
            wait(interrupt.posedge_event());
            for (std::uint32_t i = 0; i < 16; i++)
                if (access(one, socket, tlm::TLM_READ_COMMAND, RAM_SIZE + 4 * i) != round * 100 + i) wrong++;
            one.end("wrong", wrong);
        }
        sc_stop();
    }
};

int sc_main(int, char **)
{
    sc_trace_file *const file = uscope_create_trace_file("platform");
    unsigned wrong;
    {
        uscope::tx_database db(*file);
        processor cpu("cpu", db);
        dma_engine dma("dma", db);
        bus shared("bus");
        controller control0("control0"), control1("control1");
        ram ram0("ram0"), ram1("ram1");
        uscope::tlm_recorder<> cpu_access("cpu_access", db), dma_access("dma_access", db),
            to_control0("to_control0", db), to_control1("to_control1", db), to_regs("to_regs", db),
            to_ram0("to_ram0", db), to_ram1("to_ram1", db);
        cpu.socket.bind(cpu_access.target);
        cpu_access.initiator.bind(shared.cpu);
        dma.memory.bind(dma_access.target);
        dma_access.initiator.bind(shared.dma);
        shared.ram0.bind(to_control0.target);
        to_control0.initiator.bind(control0.socket);
        control0.memory.bind(to_ram0.target);
        to_ram0.initiator.bind(ram0.socket);
        shared.ram1.bind(to_control1.target);
        to_control1.initiator.bind(control1.socket);
        control1.memory.bind(to_ram1.target);
        to_ram1.initiator.bind(ram1.socket);
        shared.regs.bind(to_regs.target);
        to_regs.initiator.bind(dma.regs);
        cpu.interrupt.bind(dma.interrupt);
        sc_trace(file, dma.interrupt, "platform.dma.interrupt");
        sc_trace(file, dma.busy, "platform.dma.busy");
        sc_trace(file, cpu.phase, "platform.cpu.phase");
        sc_start();
        wrong = cpu.wrong;
        uscope_close_trace_file(file);
    }
    std::printf("8 rounds of 16 words, %u wrong\n", wrong);
    return wrong ? 1 : 0;
}
