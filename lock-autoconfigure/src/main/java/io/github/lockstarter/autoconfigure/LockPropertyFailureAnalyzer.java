// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/**
 * Analyzer for properties of the locks that do not exist, and for invalid values. Spring
 * Boot's analyzer of exceptions while binding comes before that of invalid values, and
 * shows internals instead of what was written where.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
class LockPropertyFailureAnalyzer extends AbstractFailureAnalyzer<Throwable> {

	private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName
		.of(DistributedLockProperties.PREFIX);

	private final Environment environment;

	LockPropertyFailureAnalyzer(Environment environment) {
		this.environment = environment;
	}

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, Throwable cause) {
		InvalidConfigurationPropertyValueException invalid = findCause(cause,
				InvalidConfigurationPropertyValueException.class);
		if (invalid != null) {
			return analyze(invalid);
		}
		UnboundConfigurationPropertiesException unbound = findCause(cause,
				UnboundConfigurationPropertiesException.class);
		return (unbound != null) ? analyze(unbound) : null;
	}

	private @Nullable FailureAnalysis analyze(InvalidConfigurationPropertyValueException cause) {
		ConfigurationPropertyName name = ConfigurationPropertyName.adapt(cause.getName(), '.');
		if (!PREFIX.isAncestorOf(name)) {
			return null;
		}
		ConfigurationProperty written = written(name);
		return new FailureAnalysis("Invalid value '" + ((written != null) ? written.getValue() : cause.getValue())
				+ "' for configuration property '" + cause.getName() + "'" + origin(written) + ": " + cause.getReason(),
				"Change the value of the property as described.", cause);
	}

	/** A default may be invalid together with another property that was written. */
	private @Nullable ConfigurationProperty written(ConfigurationPropertyName name) {
		for (var source : ConfigurationPropertySources.get(this.environment)) {
			ConfigurationProperty property = source.getConfigurationProperty(name);
			if (property != null) {
				return property;
			}
		}
		return null;
	}

	private static @Nullable FailureAnalysis analyze(UnboundConfigurationPropertiesException cause) {
		List<ConfigurationProperty> unknown = cause.getUnboundProperties()
			.stream()
			.filter((property) -> PREFIX.isAncestorOf(property.getName()))
			.toList();
		if (unknown.isEmpty()) {
			return null;
		}
		return new FailureAnalysis(
				unknown.stream()
					.map((property) -> "There is no configuration property '" + property.getName() + "'"
							+ origin(property) + ".")
					.collect(Collectors.joining(System.lineSeparator())),
				unknown.stream()
					.map((property) -> action(property.getName()))
					.distinct()
					.collect(Collectors.joining(System.lineSeparator())),
				cause);
	}

	private static String action(ConfigurationPropertyName property) {
		int last = property.getNumberOfElements() - 1;
		if (last < 4 || !property.getElement(1, Form.UNIFORM).equals("locks")) {
			return "Correct the name of the property, or remove it.";
		}
		String lock = IntStream.range(2, last)
			.mapToObj((index) -> property.getElement(index, Form.ORIGINAL))
			.collect(Collectors.joining("."));
		return "Put a lock name with a dot in brackets: " + DistributedLockProperties.PREFIX + ".locks[" + lock + "]."
				+ property.getElement(last, Form.ORIGINAL) + ", in YAML \"[" + lock + "]\".";
	}

	private static String origin(@Nullable ConfigurationProperty property) {
		return (property != null && property.getOrigin() != null) ? " (originating from " + property.getOrigin() + ")"
				: "";
	}

}
