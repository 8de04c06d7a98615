// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.testsupport;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.Tag;

/**
 * A test that takes long and runs in the Maven profile {@code full} alone. Each promise
 * has other tests, which CONTRIBUTING.md names.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Tag("full")
@Target({ ElementType.TYPE, ElementType.METHOD })
public @interface FullProfileOnly {

}
