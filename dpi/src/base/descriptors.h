/* SPDX-License-Identifier: Apache-2.0 */
#ifndef USCOPEI_BASE_DESCRIPTORS_H
#define USCOPEI_BASE_DESCRIPTORS_H

#include <stdbool.h>

/** Whether this process can open the file descriptors that a connection takes. ZeroMQ ends the process where
 * it cannot. */
bool uscopei_has_descriptors(void);

#endif
