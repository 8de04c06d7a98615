// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.strategy;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.core.annotation.AliasFor;
import org.springframework.stereotype.Component;

/**
 * A strategy that needs a Redis, which the shop has only if its locks are there.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Component
@ConditionalOnProperty(name = "distributed-lock.store", havingValue = "redis")
@interface RedisStrategy {

	/**
	 * The name of the strategy.
	 */
	@AliasFor(annotation = Component.class)
	String value();

}
