// SPDX-License-Identifier: Apache-2.0

/**
 * Finds in the class file of a bean whether it calls its own annotated methods, and
 * whether locks are woven into it. Only the validation uses this package.
 */
@NullMarked
package io.github.lockstarter.validation.bytecode;

import org.jspecify.annotations.NullMarked;
