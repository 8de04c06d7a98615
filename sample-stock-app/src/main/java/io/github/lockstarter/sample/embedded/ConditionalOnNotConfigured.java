// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.sample.embedded;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.stream.Stream;

import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.ConfigurationPropertyState;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Matches if none of the given properties is set in any form, including nested
 * properties.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Conditional(ConditionalOnNotConfigured.OnNotConfigured.class)
@interface ConditionalOnNotConfigured {

	/**
	 * The names of the properties.
	 */
	String[] value();

	/**
	 * The condition behind the annotation.
	 */
	class OnNotConfigured implements Condition {

		@Override
		public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
			String[] names = metadata.getAnnotations().get(ConditionalOnNotConfigured.class).getStringArray("value");
			return Stream.of(names).noneMatch((name) -> isConfigured(context.getEnvironment(), name));
		}

		static boolean isConfigured(Environment environment, String property) {
			ConfigurationPropertyName name = ConfigurationPropertyName.of(property);
			for (var source : ConfigurationPropertySources.get(environment)) {
				if (source.getConfigurationProperty(name) != null
						|| source.containsDescendantOf(name) == ConfigurationPropertyState.PRESENT) {
					return true;
				}
			}
			return false;
		}

	}

}
