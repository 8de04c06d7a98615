// SPDX-License-Identifier: Apache-2.0

/**
 * What only the class file of a bean tells: whether it calls its own annotated methods,
 * and whether locks were woven into it. Only the validation uses it.
 */
@NullMarked
package io.github.lockstarter.validation.bytecode;

import org.jspecify.annotations.NullMarked;
