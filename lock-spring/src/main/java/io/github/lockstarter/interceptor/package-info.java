// SPDX-License-Identifier: Apache-2.0

/**
 * Acquires the locks of annotated methods: from the annotation to its definition, and
 * from a call to the {@link io.github.lockstarter.LockTemplate} that runs it.
 */
@NullMarked
package io.github.lockstarter.interceptor;

import org.jspecify.annotations.NullMarked;
