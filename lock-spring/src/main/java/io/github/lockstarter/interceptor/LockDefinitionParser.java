// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.BaseStream;

import org.jspecify.annotations.Nullable;

import org.springframework.expression.BeanResolver;
import org.springframework.expression.ParseException;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringValueResolver;

import io.github.lockstarter.DistributedLock;
import io.github.lockstarter.LockContendedException;
import io.github.lockstarter.LockException;
import io.github.lockstarter.LockKey;
import io.github.lockstarter.LockRequest;
import io.github.lockstarter.LockUnavailableException;
import io.github.lockstarter.OnContention;
import io.github.lockstarter.OnUnavailable;

/**
 * Turns the annotations of a method into the definition of its lock, or reports why they
 * cannot work.
 */
final class LockDefinitionParser {

	private static final String DURATIONS = "Write it like \"500ms\", \"3s\" or \"PT3S\", or leave it out for the"
			+ " default.";

	private static final String FALLBACKS = "Declare a method of that name in the same class, with the same parameters"
			+ " and return type. It may have one more parameter, which receives the LockException.";

	private static final Pattern REFERENCE = Pattern.compile("#([\\w$]+)");

	private final StringValueResolver placeholders;

	private final BeanResolver beans;

	private final Predicate<String> beanNames;

	LockDefinitionParser(StringValueResolver placeholders, BeanResolver beans, Predicate<String> beanNames) {
		this.placeholders = placeholders;
		this.beans = beans;
		this.beanNames = beanNames;
	}

	/**
	 * Parse the annotations of a method.
	 * @param annotations the annotations that apply to the method
	 * @param method a method of the target class
	 * @param targetClass the class of the bean
	 * @throws InvalidLockDefinitionException if an annotation cannot work
	 */
	LockDefinition parse(List<DistributedLock> annotations, Method method, Class<?> targetClass) {
		DistributedLock annotation = annotations.get(0);
		InvocationAdapter adapter = ReturnTypes.adapter(method, targetClass);
		if (adapter == null) {
			throw invalid(method,
					"its return type " + method.getReturnType().getSimpleName()
							+ " lets the work continue after the method has returned and the lock is released",
					"Return the result itself, a CompletableFuture, or a Mono or Flux where Reactor is on the"
							+ " class path; or acquire the lock inside the work with a LockTemplate.",
					null);
		}
		annotations.forEach((other) -> requireSameReaction(annotation, other, method));
		List<KeyedRequest> locks = annotations.stream()
			.map((each) -> new KeyedRequest(request(each, method, targetClass), key(each, method)))
			.toList();
		LeaseParameter leaseParameter = LeaseParameter.of(method);
		if (leaseParameter.single() && (locks.size() > 1 || locks.get(0).isForSeveralKeys())) {
			throw invalid(method, "a parameter of type Lease cannot receive the leases of several locks",
					"Declare it as a LeaseSet.", null);
		}
		return new LockDefinition(locks, onFailure(annotation, method, targetClass), annotation.onLost(),
				annotation.onActiveTransaction(), leaseParameter, adapter);
	}

	/** All locks are acquired in one wait, so they succeed or fail together. */
	private void requireSameReaction(DistributedLock one, DistributedLock other, Method method) {
		requireSame("waitTime", one.waitTime(), other.waitTime(), method);
		requireSame("onContention", one.onContention(), other.onContention(), method);
		requireSame("onUnavailable", one.onUnavailable(), other.onUnavailable(), method);
		requireSame("fallback", one.fallback(), other.fallback(), method);
		requireSame("onLost", one.onLost(), other.onLost(), method);
		requireSame("onActiveTransaction", one.onActiveTransaction(), other.onActiveTransaction(), method);
	}

	private void requireSame(String attribute, Object one, Object other, Method method) {
		if (!one.equals(other)) {
			throw invalid(method, attribute + " is '" + one + "' in one annotation and '" + other + "' in another",
					"Use the same value in all annotations of the method.", null);
		}
	}

	private FailurePolicy onFailure(DistributedLock annotation, Method method, Class<?> targetClass) {
		FallbackMethod fallback = fallback(annotation, method, targetClass);
		if (fallback == null && annotation.onUnavailable() == OnUnavailable.FALLBACK) {
			throw invalid(method, "onUnavailable = FALLBACK needs a fallback",
					"Name a fallback method with 'fallback', or use onUnavailable = THROW.", null);
		}
		if (fallback == null && annotation.onContention() == OnContention.SKIP && method.getReturnType().isPrimitive()
				&& method.getReturnType() != void.class) {
			throw invalid(method, "onContention = SKIP has no empty result of type " + method.getReturnType(),
					"Return an object type, which may be null, or an Optional; or name a fallback.", null);
		}
		return new FailurePolicy(annotation.onContention(), annotation.onUnavailable(), fallback,
				ReturnTypes.empty(method, targetClass));
	}

	private @Nullable FallbackMethod fallback(DistributedLock annotation, Method method, Class<?> targetClass) {
		String name = text("fallback", annotation.fallback(), method);
		if (name.isBlank()) {
			return null;
		}
		List<Class<? extends LockException>> reasons = (annotation.onUnavailable() == OnUnavailable.FALLBACK)
				? List.of(LockContendedException.class, LockUnavailableException.class)
				: List.of(LockContendedException.class);
		return attribute("fallback", method, FALLBACKS, () -> FallbackMethod.find(name, method, targetClass, reasons));
	}

	private LockRequest request(DistributedLock annotation, Method method, Class<?> targetClass) {
		String name = text("name", annotation.name(), method);
		String effective = name.isBlank() ? defaultName(method, targetClass) : name;
		requireLabel(effective, method);
		LockKey key = attribute("name", method, "Set 'name' to a valid label.", () -> LockKey.of(effective));
		Duration waitTime = duration("waitTime", annotation.waitTime(), method);
		Duration leaseTime = duration("leaseTime", annotation.leaseTime(), method);
		LockRequest defaults = LockRequest.of(key).withMode(annotation.mode());
		LockRequest waiting = (waitTime == null) ? defaults : attribute("waitTime", method,
				"Use \"0s\" to try without waiting.", () -> defaults.withWaitTime(waitTime));
		LockRequest leased = (leaseTime == null) ? waiting
				: attribute("leaseTime", method, "Leave it out for a lease that is renewed until the method ends.",
						() -> waiting.withLeaseTime(leaseTime));
		Duration holdAtLeast = duration("holdAtLeast", annotation.holdAtLeast(), method);
		return (holdAtLeast == null) ? leased
				: attribute("holdAtLeast", method,
						"Leave it out for a shared lock, or for a lock that is free when the method returns.",
						() -> leased.withHoldAtLeast(holdAtLeast));
	}

	/** A parameter in the name would be one lock for all values of the parameter. */
	private static void requireLabel(String name, Method method) {
		KeyVariables variables = new KeyVariables(method);
		Matcher references = REFERENCE.matcher(name);
		while (references.find()) {
			if (variables.isParameter(references.group(1))) {
				throw invalid(method,
						"name \"" + name + "\" is a static label, so " + references.group() + " is not evaluated",
						"Use key = \"" + references.group() + "\".", null);
			}
		}
	}

	private @Nullable LockKeyExpression key(DistributedLock annotation, Method method) {
		String text = text("key", annotation.key(), method);
		if (annotation.key().isEmpty()) {
			return null;
		}
		if (text.isBlank()) {
			throw invalid(method, "key is blank" + (text.equals(annotation.key()) ? "" : ", from " + annotation.key()),
					"Leave it out for one lock per name, or give an expression such as \"#id\".", null);
		}
		LockKeyExpression key;
		try {
			key = new LockKeyExpression(text, method, this.beans);
		}
		catch (ParseException ex) {
			throw invalid(method, "key \"" + text + "\" is not a SpEL expression: " + ex.getMessage(),
					"Write a parameter as \"#id\" and a constant as \"'text'\".", ex);
		}
		requireKnownReferences(key, text, method);
		if (key.isParameterOf(BaseStream.class)) {
			throw invalid(method, "key \"" + text + "\" is a stream, which would be consumed before the method runs",
					"Declare the parameter as a collection.", null);
		}
		if (key.isParameterOf(Map.class)) {
			throw invalid(method, "key \"" + text + "\" is a map, which is neither a key nor a collection of keys",
					"Add .keySet(), or use an expression with a single value.", null);
		}
		return key;
	}

	private void requireKnownReferences(LockKeyExpression key, String text, Method method) {
		List<String> unknown = key.unknownReferences();
		if (!unknown.isEmpty()) {
			throw invalid(method,
					"key \"" + text + "\" uses " + String.join(", ", unknown)
							+ ((unknown.size() == 1) ? ", which does not exist" : ", which do not exist"),
					key.advice(), null);
		}
		key.beans().stream().filter(this.beanNames.negate()).findFirst().ifPresent((bean) -> {
			throw invalid(method, "key \"" + text + "\" uses the bean '" + bean + "', which does not exist",
					"Correct the name, or declare a bean of that name.", null);
		});
		key.missingMembers().stream().findFirst().ifPresent((missing) -> {
			throw invalid(method, "key \"" + text + "\" has no value: " + missing,
					"Correct the name, or declare a parameter type that has it.", null);
		});
	}

	private @Nullable Duration duration(String attribute, String value, Method method) {
		String text = text(attribute, value, method);
		return (text.isBlank()) ? null : attribute(attribute, method, DURATIONS, () -> DurationAttribute.parse(text));
	}

	private String text(String attribute, String value, Method method) {
		if (!value.contains("${")) {
			return value;
		}
		return attribute(attribute, method, "Define the property, or give a default as in ${property:default}.", () -> {
			String resolved = this.placeholders.resolveStringValue(value);
			return (resolved != null) ? resolved : "";
		});
	}

	private static String defaultName(Method method, Class<?> targetClass) {
		return ClassUtils.getShortName(targetClass) + '.' + method.getName();
	}

	private static <T extends @Nullable Object> T attribute(String attribute, Method method, String action,
			Supplier<T> value) {
		try {
			return value.get();
		}
		catch (IllegalArgumentException ex) {
			throw invalid(method, attribute + ": " + ex.getMessage(), action, ex);
		}
	}

	private static InvalidLockDefinitionException invalid(Method method, String problem, String action,
			@Nullable Throwable cause) {
		return new InvalidLockDefinitionException(method, problem, action, cause);
	}

}
