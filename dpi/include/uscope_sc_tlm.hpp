// SPDX-License-Identifier: Apache-2.0
/**
 * @file uscope_sc_tlm.hpp
 * Records what passes between two TLM-2.0 sockets. It forwards every call with the same payload, phase and
 * delay, and changes nothing of them:
 *
 *     uscope::tlm_recorder<32> recorder("cpu_to_bus", db);
 *     cpu.socket.bind(recorder.target);
 *     recorder.initiator.bind(bus.socket);
 */
#ifndef USCOPE_SC_TLM_HPP
#define USCOPE_SC_TLM_HPP

#include <tlm>

#include "uscope_sc_tx.hpp"

namespace uscope
{

/** Records an extension of a payload; `when` is begin or end. Register it with
 * tlm_extensions().push_back(...). */
using tlm_extension_recorder =
    std::function<void(const tx_handle &, const tlm::tlm_generic_payload &, tx_phase when)>;
inline std::vector<tlm_extension_recorder> &tlm_extensions()
{
    static std::vector<tlm_extension_recorder> all;
    return all;
}

namespace detail
{
/** The transactions that are open, by payload, over all recorders: the innermost is the parent of the next.
 */
inline std::vector<std::pair<const tlm::tlm_generic_payload *, tx_handle>> &tlm_open()
{
    static std::vector<std::pair<const tlm::tlm_generic_payload *, tx_handle>> all;
    return all;
}
inline tx_handle tlm_parent(const tlm::tlm_generic_payload &payload)
{
    auto &all = tlm_open();
    for (auto at = all.rbegin(); at != all.rend(); ++at)
        if (at->first == &payload) return at->second;
    return {};
}
inline void tlm_forget(const tx_handle &one)
{
    if (!one) return;
    auto &all = tlm_open();
    for (std::size_t i = all.size(); i-- > 0;)
        if (all[i].second == one) {
            all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
            return;
        }
}
inline const char *command_name(tlm::tlm_command command)
{
    return command == tlm::TLM_READ_COMMAND ? "read" : command == tlm::TLM_WRITE_COMMAND ? "write" : "ignore";
}
} // namespace detail

/** While it lives, the transfer of this payload is a child of a transaction: of a job or task of the model.
 */
class tlm_child_of
{
  public:
    tlm_child_of(const tx_handle &parent, const tlm::tlm_generic_payload &payload) : parent_(parent)
    {
        if (parent) detail::tlm_open().push_back({&payload, parent});
    }
    tlm_child_of(const tlm_child_of &) = delete;
    tlm_child_of &operator=(const tlm_child_of &) = delete;
    ~tlm_child_of()
    {
        detail::tlm_forget(parent_);
    }

  private:
    tx_handle parent_;
};

template <unsigned BUSWIDTH = 32, class TYPES = tlm::tlm_base_protocol_types>
class tlm_recorder : public sc_core::sc_module,
                     private tlm::tlm_fw_transport_if<TYPES>,
                     private tlm::tlm_bw_transport_if<TYPES>
{
  public:
    using payload = typename TYPES::tlm_payload_type;
    using phase = typename TYPES::tlm_phase_type;
    tlm::tlm_target_socket<BUSWIDTH, TYPES, 1, sc_core::SC_ZERO_OR_MORE_BOUND> target;
    tlm::tlm_initiator_socket<BUSWIDTH, TYPES, 1, sc_core::SC_ZERO_OR_MORE_BOUND> initiator;

    tlm_recorder(sc_core::sc_module_name module_name, tx_database &database)
        : sc_core::sc_module(module_name), target("target"), initiator("initiator"),
          blocking_(database, std::string(this->name()) + ".b", "tlm.b_transport"),
          nonblocking_(database, std::string(this->name()) + ".nb", "tlm.nb_transport"),
          phases_(database, std::string(this->name()) + ".phases", "tlm.phase"),
          dmi_(database, std::string(this->name()) + ".dmi", "tlm.dmi"),
          debug_(database, std::string(this->name()) + ".debug", "tlm.debug"), b_(blocking_, "b_transport"),
          nb_(nonblocking_, "nb_transport"), forward_(phases_, "forward"), backward_(phases_, "backward"),
          get_dmi_(dmi_, "get_direct_mem_ptr"), invalidate_(dmi_, "invalidate_direct_mem_ptr"),
          transport_dbg_(debug_, "transport_dbg")
    {
        target.bind(static_cast<tlm::tlm_fw_transport_if<TYPES> &>(*this));
        initiator.bind(static_cast<tlm::tlm_bw_transport_if<TYPES> &>(*this));
    }

  private:
    void end_of_elaboration() override
    {
        if (!bound()) unbound("initiator", "calls are answered with TLM_ADDRESS_ERROR_RESPONSE");
        if (target.get_base_port().size() == 0) unbound("target", "nothing is recorded");
    }
    bool bound()
    {
        return initiator.get_base_port().size() > 0;
    }
    void unbound(const char *socket, const char *effect)
    {
        detail::warn("OP_UNBOUND", std::string("recorder \"") + this->name() + "\": its " + socket +
                                       " socket is not bound; " + effect + "; bind it");
    }

    tx_handle begin(tx_generator &of, const payload &trans, const sc_core::sc_time &delay, tx_handle &last)
    {
        const tx_handle parent = detail::tlm_parent(trans);
        const tx_handle one =
            of.begin_at(sc_core::sc_time_stamp() + delay, "cmd", detail::command_name(trans.get_command()),
                        "addr", std::uint64_t{trans.get_address()}, "len", trans.get_data_length());
        if (!one) return one;
        if (trans.get_streaming_width() != trans.get_data_length())
            one.record("streaming_width", trans.get_streaming_width());
        if (trans.get_byte_enable_ptr()) one.record("byte_enable_len", trans.get_byte_enable_length());
        if (trans.is_write()) data(one, trans);
        for (const auto &extension : tlm_extensions())
            extension(one, trans, tx_phase::begin);
        parent.relate("parent_of", one);
        last.relate("pred", one);
        last = one;
        detail::tlm_open().push_back({&trans, one});
        return one;
    }
    /** The first 8 bytes, lowest address first. */
    static void data(const tx_handle &one, const payload &trans)
    {
        std::uint64_t value = 0;
        if (trans.get_data_ptr())
            std::memcpy(&value, trans.get_data_ptr(), std::min<std::size_t>(8, trans.get_data_length()));
        one.record("data", value);
    }
    void finish(const tx_handle &one, const payload &trans, const sc_core::sc_time &delay)
    {
        if (!one) return;
        if (trans.is_read() && trans.is_response_ok()) data(one, trans);
        for (const auto &extension : tlm_extensions())
            extension(one, trans, tx_phase::end);
        one.end_at(sc_core::sc_time_stamp() + delay, "response", trans.get_response_string(), "dmi_allowed",
                   trans.is_dmi_allowed());
        detail::tlm_forget(one);
    }

    /** A call that is passed on. An exception that leaves it ends the transaction, also one that ends a
     * process; not before its begin, to which the annotated delay belongs.
     */
    template <class Call>
    auto passed(const tx_handle &one, const sc_core::sc_time &began, Call call) -> decltype(call())
    {
        try {
            return call();
        } catch (...) {
            abandon(one, began);
            throw;
        }
    }
    void abandon(const tx_handle &one, const sc_core::sc_time &began) noexcept
    {
        if (!one) return;
        detail::tlm_forget(one);
        const auto ended = [&one](const flight &other) { return other.transfer == one; };
        flying_.erase(std::remove_if(flying_.begin(), flying_.end(), ended), flying_.end());
        try {
            end_early(one, began, "exception");
        } catch (...) { // of a report that the user has made throw: the model's is the one that counts
        }
    }
    static void end_early(const tx_handle &one, const sc_core::sc_time &began, const char *why)
    {
        if (one.is_open()) one.end_at(std::max(sc_core::sc_time_stamp(), began), "response", why);
    }

    void b_transport(payload &trans, sc_core::sc_time &delay) override
    {
        if (!bound()) {
            trans.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
            return;
        }
        const sc_core::sc_time began = sc_core::sc_time_stamp() + delay;
        const tx_handle one = begin(b_, trans, delay, last_blocking_);
        passed(one, began, [&] { initiator->b_transport(trans, delay); });
        finish(one, trans, delay);
    }

    tlm::tlm_sync_enum nb_transport_fw(payload &trans, phase &ph, sc_core::sc_time &delay) override
    {
        if (!bound()) {
            trans.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
            return tlm::TLM_COMPLETED;
        }
        if (ph == tlm::BEGIN_REQ) forget(trans);
        const tx_handle one =
            ph == tlm::BEGIN_REQ ? begin(nb_, trans, delay, last_nonblocking_) : mine(trans);
        const sc_core::sc_time began = sc_core::sc_time_stamp() + delay;
        if (ph == tlm::BEGIN_REQ && one) flying_.push_back({&trans, one, began});
        const held until_recorded(trans);
        const bool was_last = ph == tlm::END_RESP;
        mark(forward_, one, ph, delay);
        const tlm::tlm_sync_enum result =
            passed(one, began, [&] { return initiator->nb_transport_fw(trans, ph, delay); });
        after(backward_, one, trans, ph, delay, result, was_last);
        return result;
    }
    tlm::tlm_sync_enum nb_transport_bw(payload &trans, phase &ph, sc_core::sc_time &delay) override
    {
        const tx_handle one = mine(trans);
        const held until_recorded(trans);
        mark(backward_, one, ph, delay);
        const tlm::tlm_sync_enum result =
            passed(one, sc_core::sc_time_stamp(), [&] { return target->nb_transport_bw(trans, ph, delay); });
        after(forward_, one, trans, ph, delay, result, false);
        return result;
    }
    void after(tx_generator &answer, const tx_handle &one, const payload &trans, const phase &ph,
               const sc_core::sc_time &delay, tlm::tlm_sync_enum result, bool was_last)
    {
        if (result == tlm::TLM_UPDATED) mark(answer, one, ph, delay);
        const bool early = result == tlm::TLM_COMPLETED && !was_last;
        if (!was_last && !early && !(result == tlm::TLM_UPDATED && ph == tlm::END_RESP)) return;
        if (!one || !one.is_open()) return;
        if (early) one.record("early_completion", true);
        finish(one, trans, delay);
        take(trans);
    }
    /** A transfer by nb_transport that has not ended. */
    struct flight {
        const payload *trans;
        tx_handle transfer;
        sc_core::sc_time began;
    };
    /** The transfer of this payload, which is not in flight any more. */
    flight take(const payload &trans)
    {
        const auto found = std::find_if(flying_.begin(), flying_.end(),
                                        [&](const flight &one) { return one.trans == &trans; });
        if (found == flying_.end()) return {nullptr, {}, {}};
        const flight taken = *found;
        *found = flying_.back();
        flying_.pop_back();
        return taken;
    }
    /** An earlier transfer of this payload that has never ended. */
    void forget(const payload &trans)
    {
        const flight lost = take(trans);
        detail::tlm_forget(lost.transfer);
        end_early(lost.transfer, lost.began, "never completed");
    }
    /** Keeps a payload of a memory manager until a call is recorded: the initiator may release it within the
     * call. */
    class held
    {
      public:
        explicit held(payload &trans) : trans_(trans.has_mm() ? &trans : nullptr)
        {
            if (trans_) trans_->acquire();
        }
        held(const held &) = delete;
        held &operator=(const held &) = delete;
        ~held()
        {
            if (trans_) trans_->release();
        }

      private:
        payload *trans_;
    };
    /** A phase is a transaction without length, a child of its transfer. */
    void mark(tx_generator &of, const tx_handle &one, const phase &ph, const sc_core::sc_time &delay)
    {
        if (!one) return;
        const sc_core::sc_time at = sc_core::sc_time_stamp() + delay;
        const tx_handle child = of.begin_at(at, "phase", ph.get_name());
        one.relate("parent_of", child);
        child.end_at(at);
    }
    tx_handle mine(const payload &trans) const
    {
        for (const flight &one : flying_)
            if (one.trans == &trans) return one.transfer;
        return {};
    }

    bool get_direct_mem_ptr(payload &trans, tlm::tlm_dmi &data) override
    {
        if (!bound()) return false;
        const tx_handle one = get_dmi_.begin("cmd", detail::command_name(trans.get_command()), "addr",
                                             std::uint64_t{trans.get_address()});
        const bool granted =
            passed(one, sc_core::sc_time_stamp(), [&] { return initiator->get_direct_mem_ptr(trans, data); });
        one.end("granted", granted, "start", std::uint64_t{data.get_start_address()}, "end",
                std::uint64_t{data.get_end_address()});
        return granted;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override
    {
        const tx_handle one = invalidate_.begin("start", std::uint64_t{start}, "end", std::uint64_t{end});
        passed(one, sc_core::sc_time_stamp(), [&] { target->invalidate_direct_mem_ptr(start, end); });
        one.end();
    }
    unsigned transport_dbg(payload &trans) override
    {
        if (!bound()) return 0;
        const tx_handle one =
            transport_dbg_.begin("cmd", detail::command_name(trans.get_command()), "addr",
                                 std::uint64_t{trans.get_address()}, "len", trans.get_data_length());
        const unsigned bytes =
            passed(one, sc_core::sc_time_stamp(), [&] { return initiator->transport_dbg(trans); });
        one.end("bytes", bytes);
        return bytes;
    }

    tx_fiber blocking_, nonblocking_, phases_, dmi_, debug_;
    tx_generator b_, nb_, forward_, backward_, get_dmi_, invalidate_, transport_dbg_;
    tx_handle last_blocking_, last_nonblocking_;
    std::vector<flight> flying_;
};

} // namespace uscope

#endif
