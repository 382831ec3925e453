// SPDX-License-Identifier: Apache-2.0
// An initiator and a target that use everything of TLM-2.0's base protocol, and print each call as it arrives
// at either of them. With recorders between them or without, they print the same.
#ifndef TEST_SYSTEMC_TRANSPORT_HPP
#define TEST_SYSTEMC_TRANSPORT_HPP

#include <cinttypes>
#include <cstdio>
#include <list>
#include <stdexcept>

#include "library.hpp"

#include "uscope_systemc.hpp"

namespace transport
{
using namespace sc_core;
using tlm::tlm_generic_payload;
using tlm::tlm_phase;

DECLARE_EXTENDED_PHASE(REFRESH);

/** How a transfer goes; its address. */
enum plan : std::uint64_t {
    FOUR_PHASES = 0x100,     // END_REQ and BEGIN_RESP on the way back, END_RESP
    UPDATED = 0x200,         // END_REQ and END_RESP are returned
    RESPONSE_FIRST = 0x300,  // BEGIN_REQ is answered with BEGIN_RESP
    EARLY_TARGET = 0x400,    // BEGIN_REQ is answered with TLM_COMPLETED
    EARLY_INITIATOR = 0x500, // BEGIN_RESP is answered with TLM_COMPLETED
    NO_END_REQ = 0x600,      // BEGIN_RESP implies it
    EXTENDED = 0x700,        // a phase of the user before END_RESP
    THROWS = 0x800,
    FAILS = 0x900,
    TAKES_TIME = 0xA00
};

/** The target adds one to it. */
struct tag : tlm::tlm_extension<tag> {
    unsigned value = 7;
    tlm_extension_base *clone() const override
    {
        return new tag(*this);
    }
    void copy_from(const tlm_extension_base &from) override
    {
        value = static_cast<const tag &>(from).value;
    }
};

struct own_types {
    using tlm_payload_type = tlm_generic_payload;
    using tlm_phase_type = tlm_phase;
};

inline void say(const sc_object &who, const char *call, const tlm_generic_payload &trans, const char *phase,
                const sc_time &delay, int result)
{
    std::uint64_t data = 0;
    std::memcpy(&data, trans.get_data_ptr(), std::min(8u, trans.get_data_length()));
    const tag *extension = trans.get_extension<tag>();
    std::printf("> %s %s %s at %s: addr %" PRIx64 " data %" PRIx64
                " phase %s delay %s response %s dmi %d tag %u\n",
                who.name(), call, result < 0 ? "is called" : std::to_string(result).c_str(),
                sc_time_stamp().to_string().c_str(), static_cast<std::uint64_t>(trans.get_address()), data,
                phase, delay.to_string().c_str(), trans.get_response_string().c_str(), trans.is_dmi_allowed(),
                extension ? extension->value : 0);
}

template <unsigned WIDTH, class TYPES> struct target : sc_module {
    tlm_utils::simple_target_socket<target, WIDTH, TYPES> socket{"socket"};
    tlm_utils::peq_with_cb_and_phase<target, TYPES> queue{this, &target::later};
    unsigned char bytes[64] = {};
    explicit target(sc_module_name name) : sc_module(name)
    {
        socket.register_b_transport(this, &target::b_transport);
        socket.register_nb_transport_fw(this, &target::nb_transport_fw);
        socket.register_get_direct_mem_ptr(this, &target::get_direct_mem_ptr);
        socket.register_transport_dbg(this, &target::transport_dbg);
    }
    void access(tlm_generic_payload &trans)
    {
        if (trans.is_write())
            std::memcpy(bytes, trans.get_data_ptr(), trans.get_data_length());
        else
            std::memcpy(trans.get_data_ptr(), bytes, trans.get_data_length());
        if (tag *extension = trans.get_extension<tag>()) extension->value++;
        trans.set_dmi_allowed(true);
        trans.set_response_status(trans.get_address() == FAILS ? tlm::TLM_BURST_ERROR_RESPONSE
                                                               : tlm::TLM_OK_RESPONSE);
    }
    void b_transport(tlm_generic_payload &trans, sc_time &delay)
    {
        say(*this, "b", trans, "-", delay, -1);
        if (trans.get_address() == THROWS) throw std::runtime_error("refused");
        access(trans);
        if (trans.get_address() == TAKES_TIME) {
            wait(delay + sc_time(30, SC_NS));
            delay = SC_ZERO_TIME;
        } else
            delay += sc_time(10, SC_NS);
    }
    tlm::tlm_sync_enum nb_transport_fw(tlm_generic_payload &trans, tlm_phase &phase, sc_time &delay)
    {
        say(*this, "fw", trans, phase.get_name(), delay, -1);
        if (trans.get_address() == THROWS) throw std::runtime_error("refused");
        if (phase == tlm::END_RESP)
            return trans.get_address() == FOUR_PHASES ? tlm::TLM_ACCEPTED : tlm::TLM_COMPLETED;
        if (phase == REFRESH) return tlm::TLM_ACCEPTED;
        access(trans);
        const sc_time then = delay + sc_time(20, SC_NS);
        switch (trans.get_address()) {
        case EARLY_TARGET: delay += sc_time(4, SC_NS); return tlm::TLM_COMPLETED;
        case RESPONSE_FIRST:
            phase = tlm::BEGIN_RESP;
            delay += sc_time(3, SC_NS);
            return tlm::TLM_UPDATED;
        case FOUR_PHASES: queue.notify(trans, tlm::END_REQ, then); break;
        case UPDATED:
            phase = tlm::END_REQ;
            delay += sc_time(2, SC_NS);
            queue.notify(trans, tlm::BEGIN_RESP, then);
            return tlm::TLM_UPDATED;
        default: queue.notify(trans, tlm::BEGIN_RESP, then);
        }
        return tlm::TLM_ACCEPTED;
    }
    void later(tlm_generic_payload &trans, const tlm_phase &which)
    {
        tlm_phase phase = which;
        sc_time delay(1, SC_NS);
        if (phase == tlm::END_REQ) queue.notify(trans, tlm::BEGIN_RESP, sc_time(15, SC_NS));
        const auto result = socket->nb_transport_bw(trans, phase, delay);
        say(*this, "bw", trans, phase.get_name(), delay, result);
    }
    bool get_direct_mem_ptr(tlm_generic_payload &trans, tlm::tlm_dmi &dmi)
    {
        say(*this, "dmi", trans, "-", SC_ZERO_TIME, -1);
        if (trans.get_address() == THROWS) throw std::runtime_error("refused");
        dmi.set_dmi_ptr(bytes);
        dmi.set_start_address(0x100);
        dmi.set_end_address(0x13F);
        dmi.set_read_latency(sc_time(7, SC_NS));
        dmi.allow_read();
        return trans.get_address() != FAILS;
    }
    unsigned transport_dbg(tlm_generic_payload &trans)
    {
        say(*this, "debug", trans, "-", SC_ZERO_TIME, -1);
        if (trans.get_address() == THROWS) throw std::runtime_error("refused");
        std::memcpy(trans.get_data_ptr(), bytes, 4);
        return 4;
    }
};

template <unsigned WIDTH, class TYPES> struct initiator : sc_module, tlm::tlm_mm_interface {
    tlm_utils::simple_initiator_socket<initiator, WIDTH, TYPES> socket{"socket"};
    std::list<tlm_generic_payload> payloads;
    std::vector<unsigned char> data;
    std::vector<tlm_generic_payload *> answered;
    sc_event answer;
    tag extension;
    SC_HAS_PROCESS(initiator);
    explicit initiator(sc_module_name name) : sc_module(name), data(WIDTH / 8)
    {
        socket.register_nb_transport_bw(this, &initiator::nb_transport_bw);
        socket.register_invalidate_direct_mem_ptr(this, &initiator::invalidate);
        SC_THREAD(run);
    }
    void free(tlm_generic_payload *) override
    {
    }
    void invalidate(sc_dt::uint64 start, sc_dt::uint64 end)
    {
        std::printf("> %s invalidate %" PRIx64 " %" PRIx64 "\n", name(), static_cast<std::uint64_t>(start),
                    static_cast<std::uint64_t>(end));
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm_generic_payload &trans, tlm_phase &phase, sc_time &delay)
    {
        say(*this, "bw", trans, phase.get_name(), delay, -1);
        if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
        answered.push_back(&trans);
        answer.notify(SC_ZERO_TIME);
        if (trans.get_address() == EARLY_INITIATOR) return tlm::TLM_COMPLETED;
        if (trans.get_address() != UPDATED) return tlm::TLM_ACCEPTED;
        phase = tlm::END_RESP;
        delay += sc_time(2, SC_NS);
        return tlm::TLM_UPDATED;
    }
    /** Each has a memory manager, as the base protocol demands of those of nb_transport. */
    tlm_generic_payload &payload(plan how, tlm::tlm_command command)
    {
        payloads.emplace_back(this);
        tlm_generic_payload &trans = payloads.back();
        trans.acquire();
        trans.set_address(how);
        trans.set_command(command);
        for (std::size_t i = 0; i < data.size(); i++)
            data[i] = static_cast<unsigned char>(how / 0x100 + i);
        trans.set_data_ptr(data.data());
        trans.set_data_length(static_cast<unsigned>(data.size()));
        trans.set_streaming_width(static_cast<unsigned>(data.size()));
        trans.set_extension(&extension);
        return trans;
    }
    void release(tlm_generic_payload &trans)
    {
        std::printf("> %s references %d\n", name(), trans.get_ref_count());
        trans.clear_extension(&extension);
        trans.release();
    }
    tlm_phase send(tlm_generic_payload &trans, const tlm_phase &which, int delay_ns)
    {
        tlm_phase phase = which;
        sc_time delay(delay_ns, SC_NS);
        try {
            const auto result = socket->nb_transport_fw(trans, phase, delay);
            say(*this, "fw", trans, phase.get_name(), delay, result);
            if (result == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP) answered.push_back(&trans);
        } catch (const std::runtime_error &e) {
            std::printf("> %s caught %s\n", name(), e.what());
        }
        return phase;
    }
    void wait_for(tlm_generic_payload &trans)
    {
        while (std::find(answered.begin(), answered.end(), &trans) == answered.end())
            wait(answer);
    }
    void non_blocking(plan how, tlm::tlm_command command)
    {
        tlm_generic_payload &trans = payload(how, command);
        send(trans, tlm::BEGIN_REQ, 1);
        if (how != EARLY_TARGET && how != THROWS) {
            wait_for(trans);
            wait(5, SC_NS);
            if (how == EXTENDED) send(trans, REFRESH, 0);
            if (how != EARLY_INITIATOR && how != UPDATED) send(trans, tlm::END_RESP, 2);
        }
        wait(40, SC_NS);
        release(trans);
    }
    /** The second begins after the first and ends before it. */
    void overlapping()
    {
        tlm_generic_payload &first = payload(FOUR_PHASES, tlm::TLM_READ_COMMAND),
                            &second = payload(UPDATED, tlm::TLM_READ_COMMAND);
        send(first, tlm::BEGIN_REQ, 0);
        wait(1, SC_NS);
        send(second, tlm::BEGIN_REQ, 0);
        wait_for(second);
        wait_for(first);
        send(first, tlm::END_RESP, 0);
        wait(40, SC_NS);
        release(first);
        release(second);
    }
    void blocking(plan how, tlm::tlm_command command)
    {
        tlm_generic_payload &trans = payload(how, command);
        static unsigned char enables[] = {0xFF, 0};
        if (how == UPDATED) {
            trans.set_byte_enable_ptr(enables);
            trans.set_byte_enable_length(2);
            trans.set_streaming_width(4);
        }
        sc_time delay(5, SC_NS);
        try {
            socket->b_transport(trans, delay);
            say(*this, "b", trans, "-", delay, 0);
        } catch (const std::runtime_error &e) {
            std::printf("> %s caught %s\n", name(), e.what());
        }
        wait(40, SC_NS);
        release(trans);
    }
    void direct(plan how)
    {
        tlm_generic_payload &trans = payload(how, tlm::TLM_READ_COMMAND);
        tlm::tlm_dmi dmi;
        try {
            const bool granted = socket->get_direct_mem_ptr(trans, dmi);
            std::printf("> %s dmi %d: %" PRIx64 " %" PRIx64 " pointer %d access %d latency %s\n", name(),
                        granted, static_cast<std::uint64_t>(dmi.get_start_address()),
                        static_cast<std::uint64_t>(dmi.get_end_address()), dmi.get_dmi_ptr() != nullptr,
                        dmi.get_granted_access(), dmi.get_read_latency().to_string().c_str());
            const unsigned bytes = socket->transport_dbg(trans);
            std::printf("> %s debug %u: %02x%02x\n", name(), bytes, data[0], data[1]);
        } catch (const std::runtime_error &e) {
            std::printf("> %s caught %s\n", name(), e.what());
            try {
                socket->transport_dbg(trans);
            } catch (const std::runtime_error &again) {
                std::printf("> %s caught %s\n", name(), again.what());
            }
        }
        release(trans);
    }
    void run()
    {
        wait(100, SC_NS);
        blocking(FOUR_PHASES, tlm::TLM_WRITE_COMMAND);
        for (const plan how : {UPDATED, FAILS, THROWS, TAKES_TIME})
            blocking(how, tlm::TLM_READ_COMMAND);
        for (const plan how : {FOUR_PHASES, UPDATED, RESPONSE_FIRST, EARLY_TARGET, EARLY_INITIATOR,
                               NO_END_REQ, EXTENDED, THROWS})
            non_blocking(how, tlm::TLM_WRITE_COMMAND);
        overlapping();
        for (const plan how : {FOUR_PHASES, FAILS, THROWS})
            direct(how);
    }
};

/** An initiator and a target, with two recorders between them if there is a database. */
template <unsigned WIDTH, class TYPES = tlm::tlm_base_protocol_types> struct link {
    initiator<WIDTH, TYPES> from;
    target<WIDTH, TYPES> to;
    std::unique_ptr<uscope::tlm_recorder<WIDTH, TYPES>> outer, inner;
    link(const std::string &name, uscope::tx_database *db)
        : from((name + "_from").c_str()), to((name + "_to").c_str())
    {
        if (!db) {
            from.socket.bind(to.socket);
            return;
        }
        outer = std::make_unique<uscope::tlm_recorder<WIDTH, TYPES>>((name + "_outer").c_str(), *db);
        inner = std::make_unique<uscope::tlm_recorder<WIDTH, TYPES>>((name + "_inner").c_str(), *db);
        from.socket.bind(outer->target);
        outer->initiator.bind(inner->target);
        inner->initiator.bind(to.socket);
    }
};

inline void run_transport(bool is_recorded)
{
    uscope::tlm_extensions().push_back(
        [](const uscope::tx_handle &one, const tlm_generic_payload &trans, uscope::tx_phase when) {
            if (const tag *found = trans.get_extension<tag>())
                one.record(when == uscope::tx_phase::begin ? "tag" : "tag_after", found->value);
        });
    std::unique_ptr<uscope::tx_database> db;
    if (is_recorded) db = std::make_unique<uscope::tx_database>("transport");
    link<32> narrow("bits32", db.get());
    link<256> wide("bits256", db.get());
    link<64, own_types> own("own64", db.get());
    sc_start(2, SC_US);
    narrow.to.socket->invalidate_direct_mem_ptr(0x100, 0x13F);
    wide.to.socket->invalidate_direct_mem_ptr(0x100, 0x13F);
    own.to.socket->invalidate_direct_mem_ptr(0x100, 0x13F);
    std::printf("> open %zu\n", uscope::detail::tlm_open().size());
}
} // namespace transport

#endif
