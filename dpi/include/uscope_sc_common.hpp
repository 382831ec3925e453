// SPDX-License-Identifier: Apache-2.0
/** @file uscope_sc_common.hpp What the parts of uscope_systemc.hpp share: reports with codes, times, names.
 */
#ifndef USCOPE_SC_COMMON_HPP
#define USCOPE_SC_COMMON_HPP

#include <cstring>
#include <string>

#include <sysc/datatypes/fx/fx.h>
#include <systemc>

#include "uscope.hpp"

namespace uscope
{
namespace detail
{

/**
 * A warning of the type "/uscope/CODE": the simulation continues, unless sc_report_handler::set_actions says
 * otherwise for this type.
 */
inline void warn(const std::string &code, const std::string &message)
{
    const std::string type = "/uscope/" + code;
    sc_core::sc_report_handler::report(sc_core::SC_WARNING, type.c_str(), message.c_str(), __FILE__,
                                       __LINE__);
}

/** The same from a destructor, which an exception must not leave: not even one that the user asked for. */
inline void warn_at_end(const std::string &code, const std::string &message) noexcept
{
    try {
        warn(code, message);
    } catch (...) {
    }
}

/** Ticks of the kernel's resolution as ps. */
class clockwork
{
  public:
    std::uint64_t ps(const sc_core::sc_time &time)
    {
        if (divisor_ == 0) learn();
        return divisor_ == 1 ? time.value() * multiplier_ : time.value() / divisor_;
    }
    std::uint64_t now()
    {
        return ps(sc_core::sc_time_stamp());
    }

  private:
    void learn()
    {
        const double seconds = sc_core::sc_get_time_resolution().to_seconds();
        multiplier_ = seconds < 0.5e-12 ? 1 : static_cast<std::uint64_t>(seconds * 1e12 + 0.5);
        divisor_ = seconds < 0.5e-12 ? static_cast<std::uint64_t>(1e-12 / seconds + 0.5) : 1;
    }
    std::uint64_t multiplier_ = 1, divisor_ = 0;
};

/** A name that the schema takes: a letter or _ first, then letters, digits, _ and -. */
inline std::string tidy(const std::string &name)
{
    std::string result;
    for (const char c : name) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        const bool later = (c >= '0' && c <= '9') || c == '-';
        if (letter || (later && !result.empty()))
            result += c;
        else if (later)
            result += std::string("_") + c;
        else if (c != ']' && c != ')')
            result += '_';
    }
    return result.empty() ? "_" : result;
}

/** `*` is any characters, `?` one. */
inline bool matches(const char *pattern, const char *name)
{
    const char *star = nullptr, *again = nullptr;
    while (*name) {
        if (*pattern == '*') {
            star = pattern++;
            again = name;
        } else if (*pattern == '?' || *pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++again;
        } else
            return false;
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == 0;
}

} // namespace detail
} // namespace uscope

#endif
