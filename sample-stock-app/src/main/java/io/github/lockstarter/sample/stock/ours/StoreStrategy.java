// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.stock.ours;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.context.annotation.Profile;
import org.springframework.core.annotation.AliasFor;
import org.springframework.stereotype.Component;

/**
 * A strategy that names its store, for the profile that has all of them. Its lock has a
 * name of its own, because the locks of two stores do not exclude each other.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Component
@Profile("stores")
@interface StoreStrategy {

	/**
	 * The name of the strategy.
	 */
	@AliasFor(annotation = Component.class)
	String value();

}
