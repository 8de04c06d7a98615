// SPDX-License-Identifier: Apache-2.0

/**
 * Locks in the memory of the JVM for tests of applications with Spring Boot.
 */
@NullMarked
package io.github.lockstarter.test.autoconfigure;

import org.jspecify.annotations.NullMarked;
