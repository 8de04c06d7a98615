// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.BaseStream;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.expression.ParseException;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.ClassUtils;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockSettings;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.OnContention;
import io.github.lockstarter.OnLost;
import io.github.lockstarter.OnUnavailable;
import io.github.lockstarter.TransactionFencing;
import io.github.lockstarter.interceptor.LockOperation.FailurePolicy;
import io.github.lockstarter.interceptor.LockOperation.KeyedRequest;

/**
 * Turns the annotations of one method into its {@link LockOperation}, or reports why they
 * cannot work.
 */
final class LockDefinitionParser {

	private static final String TRANSACTIONS = "org.springframework.transaction.ConfigurableTransactionManager";

	private static final Pattern BARE_NUMBER = Pattern.compile("[+-]?\\d+");

	private final ConfigurableBeanFactory beans;

	private final LockSettings settings;

	private final Map<String, String> defaultNames;

	private final Method method;

	private final Class<?> targetClass;

	/**
	 * Create a parser.
	 * @param beans resolves placeholders, and has the settings of lock names
	 * @param defaultNames the method to which each default name belongs; shared by all
	 * methods
	 * @param method a method of the target class
	 * @param targetClass the class of the bean
	 */
	LockDefinitionParser(ConfigurableBeanFactory beans, Map<String, String> defaultNames, Method method,
			Class<?> targetClass) {
		this.beans = beans;
		this.settings = beans.getBeanProvider(LockSettings.class).getIfUnique(() -> LockSettings.NONE);
		this.defaultNames = defaultNames;
		this.method = method;
		this.targetClass = targetClass;
	}

	/**
	 * Parse the annotations that apply to the method.
	 * @throws InvalidLockDefinitionException if an annotation cannot work
	 */
	LockOperation parse(List<DistributedLock> annotations) {
		DistributedLock first = annotations.get(0);
		InvocationAdapter adapter = adapter(first);
		annotations.forEach((other) -> requireSameReactions(first, other));
		List<KeyedRequest> locks = annotations.stream()
			.map((each) -> new KeyedRequest(request(each), key(each)))
			.toList();
		FailurePolicy onFailure = failurePolicy(annotations, locks);
		OnLost onLost = said(annotations, DistributedLock::onLost, OnLost.DEFAULT);
		return new LockOperation(text("registry", first.registry()), locks, adapter, onFailure,
				(onLost != null) ? onLost : OnLost.DEFAULT, first.transactionFencing());
	}

	private InvocationAdapter adapter(DistributedLock annotation) {
		InvocationAdapter adapter = ReturnTypes.adapter(this.method, this.targetClass);
		if (adapter == null) {
			throw invalid(
					(ReturnTypes.isSuspending(this.method) ? "a suspend function"
							: "its return type " + this.method.getReturnType().getSimpleName())
							+ " lets the work begin or continue after the method has returned and the lock is released",
					"Return the result itself, a CompletableFuture, or a Mono or Flux where Reactor is on the"
							+ " class path; or acquire the lock inside the work with a LockTemplate.");
		}
		if (annotation.transactionFencing() == TransactionFencing.ON && adapter instanceof ReactiveInvocationAdapter) {
			throw invalid("transactionFencing is 'ON', but transactions of a reactive chain cannot be fenced",
					"Check the fencing token of the lease in each write, as in"
							+ " \"update … set fence = :token where … and fence < :token\".");
		}
		if (annotation.transactionFencing() == TransactionFencing.ON
				&& !ClassUtils.isPresent(TRANSACTIONS, this.beans.getBeanClassLoader())) {
			throw invalid("transactionFencing is 'ON', but Spring transactions are not on the class path",
					"Add the dependency org.springframework:spring-tx, or leave transactionFencing out.");
		}
		return adapter;
	}

	/** All locks are acquired in one wait, so they succeed or fail together. */
	private void requireSameReactions(DistributedLock one, DistributedLock other) {
		requireSame("registry", one.registry(), other.registry());
		requireSame("waitTime", one.waitTime(), other.waitTime());
		requireSame("onContention", text(one.onContention()), text(other.onContention()));
		requireSame("onUnavailable", text(one.onUnavailable()), text(other.onUnavailable()));
		requireSame("fallback", one.fallback(), other.fallback());
		requireSame("onLost", text(one.onLost()), text(other.onLost()));
		requireSame("transactionFencing", one.transactionFencing(), other.transactionFencing());
	}

	/** A reaction that is left out agrees with its default. */
	private static String text(Enum<?> reaction) {
		return reaction.name().equals("DEFAULT") ? "THROW" : reaction.name();
	}

	private void requireSame(String attribute, Object one, Object other) {
		if (!one.equals(other)) {
			throw invalid(attribute + " is '" + one + "' in one annotation and '" + other + "' in another",
					"Use the same value in all annotations of the method.");
		}
	}

	private LockRequest request(DistributedLock annotation) {
		LockRequest request = LockRequest.of(name(annotation)).withMode(annotation.mode());
		request = with("waitTime", annotation.waitTime(), request, LockRequest::withWaitTime,
				"Use \"0s\" to try without waiting.");
		request = with("leaseTime", annotation.leaseTime(), request, LockRequest::withLeaseTime,
				"Leave it out for a lease that is renewed until the method ends.");
		request = with("holdAtMost", annotation.holdAtMost(), request, LockRequest::withHoldAtMost,
				(request.leaseTime() != null) ? "Leave it out for a lock that has a leaseTime."
						: "Leave it out for a lock that is renewed until the method ends.");
		return with("holdAtLeast", annotation.holdAtLeast(), request, LockRequest::withHoldAtLeast,
				"Leave it out for a shared lock, or for a lock that is free when the method returns.");
	}

	private LockKey name(DistributedLock annotation) {
		String name = text("name", annotation.name());
		// It would be one lock for all values of the parameter
		String reference = new LockKeyExpression.Parameters(this.method).referenceIn(name);
		if (reference != null) {
			throw invalid("name \"" + name + "\" is a static label, so " + reference + " is not evaluated",
					"Use key = \"" + reference + "\".");
		}
		String label = name.isBlank() ? defaultName() : name;
		return check("name",
				"Set 'name' to a valid label. What differs in each call belongs in 'key', as in" + " key = \"#id\".",
				() -> LockKey.of(label));
	}

	/**
	 * Return the name of a method that gives none. It is short, so two methods may have
	 * the same one; they would exclude each other, and with {@code SKIP} in silence.
	 */
	private String defaultName() {
		String name = ClassUtils.getShortName(this.targetClass) + '.' + this.method.getName();
		String parameters = Arrays.stream(this.method.getParameterTypes())
			.map(Class::getTypeName)
			.collect(Collectors.joining(", ", "(", ")"));
		String self = ClassUtils.getUserClass(this.targetClass).getName() + '.' + this.method.getName() + parameters;
		String other = this.defaultNames.putIfAbsent(name, self);
		if (other != null && !other.equals(self)) {
			throw invalid(
					"its default name '" + name + "' is also the one of '" + other
							+ "', so the two methods would have one lock",
					"Set 'name' on each of them, to the same text if they shall exclude each other.");
		}
		return name;
	}

	private LockRequest with(String attribute, String value, LockRequest request,
			BiFunction<LockRequest, Duration, LockRequest> change, String action) {
		String text = text(attribute, value);
		Duration duration = check(attribute,
				"Write it like \"500ms\", \"3s\" or \"PT3S\", or leave it out for the default.", () -> duration(text));
		return (duration != null) ? check(attribute, action, () -> change.apply(request, duration)) : request;
	}

	/**
	 * Parse a duration: {@code "500ms"}, {@code "3s"} or ISO-8601.
	 * @return the duration, or {@code null} for a blank text
	 * @throws IllegalArgumentException if the text is not a duration
	 */
	static @Nullable Duration duration(String text) {
		if (text.isBlank()) {
			return null;
		}
		String trimmed = text.trim();
		if (BARE_NUMBER.matcher(trimmed).matches()) {
			throw new IllegalArgumentException("'" + trimmed + "' has no unit");
		}
		try {
			return DurationFormatterUtils.detectAndParse(trimmed);
		}
		catch (IllegalArgumentException | ArithmeticException ex) {
			throw new IllegalArgumentException("'" + trimmed + "' is not a duration", ex);
		}
	}

	private @Nullable LockKeyExpression key(DistributedLock annotation) {
		if (annotation.key().isEmpty()) {
			return null;
		}
		String text = text("key", annotation.key());
		if (text.isBlank()) {
			throw invalid("key is blank" + (text.equals(annotation.key()) ? "" : ", from " + annotation.key()),
					"Leave it out for one lock per name, or give an expression such as \"#id\".");
		}
		try {
			LockKeyExpression key = new LockKeyExpression(text, this.method, new BeanFactoryResolver(this.beans));
			check(key, "key \"" + text + "\"");
			return key;
		}
		catch (ParseException ex) {
			throw invalid("key \"" + text + "\" is not a SpEL expression: " + ex.getMessage(),
					"Write a parameter as \"#id\" and a constant as \"'text'\".", ex);
		}
	}

	private void check(LockKeyExpression key, String subject) {
		List<String> unknown = key.unknownReferences();
		if (!unknown.isEmpty()) {
			throw invalid(
					subject + " uses " + String.join(", ", unknown)
							+ ((unknown.size() == 1) ? ", which does not exist" : ", which do not exist"),
					key.advice());
		}
		for (String bean : key.beans()) {
			if (!this.beans.containsBean(bean)) {
				throw invalid(subject + " uses the bean '" + bean + "', which does not exist",
						"Correct the name, or declare a bean of that name.");
			}
		}
		String unquoted = key.unquoted();
		if (unquoted != null) {
			throw invalid(subject + " has a parameter inside quotes, where it is not evaluated",
					"Write \"" + unquoted + "\".");
		}
		if (key.isParameterOf(BaseStream.class)) {
			throw invalid(subject + " is a stream, which would be consumed before the method runs",
					"Declare the parameter as a collection.");
		}
		if (key.isParameterOf(Map.class)) {
			throw invalid(subject + " is a map, which is neither a key nor a collection of keys",
					"Add .keySet(), or use an expression with a single value.");
		}
	}

	/**
	 * Return the reactions of the annotations, or else those of the settings of the lock
	 * names.
	 */
	private FailurePolicy failurePolicy(List<DistributedLock> annotations, List<KeyedRequest> locks) {
		List<String> names = locks.stream().map((lock) -> lock.request().key().name()).distinct().toList();
		String ofSettings = ", from the settings of '" + String.join("', '", names) + "',";
		OnContention onContention = said(annotations, DistributedLock::onContention, OnContention.DEFAULT);
		String ofContention = (onContention == null) ? ofSettings : "";
		if (onContention == null) {
			onContention = (agreed(names, LockSettings.ForName::onContention) == OnContention.SKIP) ? OnContention.SKIP
					: OnContention.THROW;
		}
		OnUnavailable onUnavailable = said(annotations, DistributedLock::onUnavailable, OnUnavailable.DEFAULT);
		String ofUnavailable = (onUnavailable == null) ? ofSettings : "";
		if (onUnavailable == null) {
			onUnavailable = (agreed(names, LockSettings.ForName::onUnavailable) == OnUnavailable.FALLBACK)
					? OnUnavailable.FALLBACK : OnUnavailable.THROW;
		}
		FallbackMethod fallback = fallback(annotations.get(0), onUnavailable);
		if (fallback == null && onUnavailable == OnUnavailable.FALLBACK) {
			throw invalid("onUnavailable = FALLBACK" + ofUnavailable + " needs a fallback",
					"Name a fallback method with 'fallback', or use onUnavailable = THROW.");
		}
		Class<?> returnType = this.method.getReturnType();
		if (fallback == null && onContention == OnContention.SKIP && returnType.isPrimitive()
				&& returnType != void.class) {
			throw invalid("onContention = SKIP" + ofContention + " has no empty result of type " + returnType,
					"Return an object type, which may be null, or an Optional; or name a fallback.");
		}
		return new FailurePolicy(onContention, onUnavailable, fallback,
				ReturnTypes.empty(this.method, this.targetClass));
	}

	/**
	 * Return the reaction on which the settings of all names agree, or {@code null}.
	 */
	private <E extends Enum<E>> @Nullable E agreed(List<String> names, Function<LockSettings.ForName, E> reaction) {
		List<E> all = names.stream().map((name) -> reaction.apply(this.settings.get(name))).distinct().toList();
		return (all.size() == 1) ? all.get(0) : null;
	}

	/**
	 * Return the value that one of the annotations gives an attribute, or {@code null} if
	 * all of them leave it out.
	 */
	private static <E extends Enum<E>> @Nullable E said(List<DistributedLock> annotations,
			Function<DistributedLock, E> attribute, E leftOut) {
		return annotations.stream().map(attribute).filter((value) -> value != leftOut).findFirst().orElse(null);
	}

	private @Nullable FallbackMethod fallback(DistributedLock annotation, OnUnavailable onUnavailable) {
		String name = text("fallback", annotation.fallback());
		if (name.isBlank()) {
			return null;
		}
		List<Class<? extends LockException>> reasons = (onUnavailable == OnUnavailable.FALLBACK)
				? List.of(LockContendedException.class, LockUnavailableException.class)
				: List.of(LockContendedException.class);
		return check("fallback",
				"Declare a method of that name in the same class, with the same parameters and return type. It may have"
						+ " one more parameter, which receives the LockException.",
				() -> FallbackMethod.find(name, this.method, this.targetClass, reasons));
	}

	/** Resolve the placeholders of an attribute. */
	private String text(String attribute, String value) {
		if (!value.contains("${")) {
			return value;
		}
		return check(attribute, "Define the property, or give a default as in ${property:default}.", () -> {
			String resolved = this.beans.resolveEmbeddedValue(value);
			return (resolved != null) ? resolved : "";
		});
	}

	/** Return a value, and name the attribute if that is not possible. */
	private <T extends @Nullable Object> T check(String attribute, String action, Supplier<T> value) {
		try {
			return value.get();
		}
		catch (IllegalArgumentException ex) {
			String message = String.valueOf(ex.getMessage());
			throw invalid(message.startsWith("'" + attribute + "'") ? message : attribute + ": " + message, action, ex);
		}
	}

	private InvalidLockDefinitionException invalid(String problem, String action) {
		return invalid(problem, action, null);
	}

	private InvalidLockDefinitionException invalid(String problem, String action, @Nullable Throwable cause) {
		return new InvalidLockDefinitionException(this.method, problem, action, cause);
	}

}
