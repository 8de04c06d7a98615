// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;

/**
 * Container of several {@link DistributedLock} annotations; the compiler adds it where
 * the annotation is repeated.
 */
@Target({ ElementType.METHOD, ElementType.TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@Reflective
public @interface DistributedLocks {

	/**
	 * The locks, which are acquired together or not at all.
	 */
	DistributedLock[] value();

}
