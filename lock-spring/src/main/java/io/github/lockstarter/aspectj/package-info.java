// SPDX-License-Identifier: Apache-2.0

/**
 * Acquires the locks of annotated methods by weaving, where proxies do not suffice.
 */
@NullMarked
package io.github.lockstarter.aspectj;

import org.jspecify.annotations.NullMarked;
