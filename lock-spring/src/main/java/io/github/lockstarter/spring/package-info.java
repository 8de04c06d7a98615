// SPDX-License-Identifier: Apache-2.0

/**
 * The beans that Spring needs for locks, with or without Spring Boot.
 */
@NullMarked
package io.github.lockstarter.spring;

import org.jspecify.annotations.NullMarked;
