// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.autoconfigure;

import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * Checks the properties of locks while they are bound: refuses a duration without a unit,
 * which would be read as milliseconds, tells how to write one that cannot be read, and
 * warns of unknown properties. It refuses an unknown one that was to choose a store.
 */
final class LockPropertiesCheck implements ConfigurationPropertiesBindHandlerAdvisor {

	private static final Log logger = LogFactory.getLog(LockPropertiesCheck.class);

	private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("distributed-lock");

	/** How the variables that begin with {@code DISTRIBUTED_LOCK_} are read. */
	private static final ConfigurationPropertyName VARIABLES = ConfigurationPropertyName.of("distributed.lock");

	private static final Pattern BARE_NUMBER = Pattern.compile("\\s*[+-]?\\d+\\s*");

	@Override
	public BindHandler apply(BindHandler bindHandler) {
		return new Check(bindHandler);
	}

	private static final class Check extends AbstractBindHandler {

		private final Set<ConfigurationPropertyName> known = new HashSet<>();

		Check(BindHandler parent) {
			super(parent);
		}

		@Override
		public <T> @Nullable Bindable<T> onStart(ConfigurationPropertyName name, Bindable<T> target,
				BindContext context) {
			if (PREFIX.isAncestorOf(name)) {
				this.known.add(name);
			}
			return super.onStart(name, target, context);
		}

		@Override
		public @Nullable Object onSuccess(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
				Object result) {
			if (PREFIX.isAncestorOf(name) && result instanceof Duration) {
				requireUnit(name, context.getBinder().bind(name, Bindable.of(String.class)).orElse(""));
			}
			return super.onSuccess(name, target, context, result);
		}

		@Override
		public @Nullable Object onFailure(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
				Exception error) throws Exception {
			if (PREFIX.isAncestorOf(name) && target.getType().resolve() == Duration.class
					&& !(error instanceof InvalidConfigurationPropertyValueException)) {
				context.getBinder().bind(name, Bindable.of(String.class)).ifBound((value) -> {
					throw new InvalidConfigurationPropertyValueException(name.toString(), value,
							"It is not a duration: write a number and a unit without a space, as in 10s or 500ms.");
				});
			}
			return super.onFailure(name, target, context, error);
		}

		@Override
		public void onFinish(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
				@Nullable Object result) throws Exception {
			super.onFinish(name, target, context, result);
			if (name.equals(PREFIX)) {
				unknownProperties(context).forEach(this::report);
			}
		}

		private static void requireUnit(ConfigurationPropertyName name, String value) {
			if (BARE_NUMBER.matcher(value).matches()) {
				throw new InvalidConfigurationPropertyValueException(name.toString(), value,
						"It has no unit: write " + value.trim() + "s or " + value.trim() + "ms.");
			}
		}

		private Collection<ConfigurationProperty> unknownProperties(BindContext context) {
			Map<ConfigurationPropertyName, ConfigurationProperty> unknown = new TreeMap<>();
			for (ConfigurationPropertySource source : context.getSources()) {
				if (source instanceof IterableConfigurationPropertySource names) {
					names.stream()
						.filter((name) -> isUnknown(name, source))
						.map(source::getConfigurationProperty)
						.filter(Objects::nonNull)
						.forEach((property) -> unknown.putIfAbsent(property.getName(), property));
				}
			}
			return unknown.values();
		}

		private boolean isUnknown(ConfigurationPropertyName name, ConfigurationPropertySource source) {
			return PREFIX.isAncestorOf(name) ? !this.known.contains(name)
					: VARIABLES.isAncestorOf(name) && isUnknownVariable(name.toString(), source);
		}

		/**
		 * Such variables set properties that are known otherwise, and no new lock name.
		 */
		private boolean isUnknownVariable(String name, ConfigurationPropertySource source) {
			return source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource
					&& this.known.stream().noneMatch((known) -> known.toString().replace('-', '.').equals(name));
		}

		/**
		 * A lock that is silently in another store excludes nobody, so that ends the
		 * start. A variable may be of another program.
		 */
		private void report(ConfigurationProperty property) {
			ConfigurationPropertyName name = property.getName();
			boolean variable = VARIABLES.isAncestorOf(name);
			ConfigurationPropertyName rest = name.subName((variable ? VARIABLES : PREFIX).getNumberOfElements());
			String unknown = " is unknown; the nearest one is '" + PREFIX.append(PropertyNames.nearest(rest)) + "'";
			if (!variable && PropertyNames.isStoreOfALock(rest)) {
				throw new InvalidConfigurationPropertyValueException(name.toString(), property.getValue(),
						"This property" + unknown + ". Without it the lock would be in another store.");
			}
			logger.warn("The property '" + name + "' from " + source(property) + unknown);
		}

		/**
		 * The text of an origin without a position begins with the name of the property.
		 */
		private static String source(ConfigurationProperty property) {
			String name = "\"" + property.getName() + "\" from ";
			String origin = String.valueOf(property.getOrigin());
			return origin.startsWith(name) ? origin.substring(name.length()) : origin;
		}

	}

}
