// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.BaseStream;

import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineList;
import org.springframework.expression.spel.ast.InlineMap;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.util.ClassUtils;

/**
 * Follows the declared types through a key expression to find properties and methods that
 * do not exist. Only concrete classes are checked: a value that is declared as an
 * interface, an abstract class, a map or a type variable may have more members than its
 * type declares.
 */
final class KeyTypes {

	private static final ResolvableType UNKNOWN = ResolvableType.NONE;

	private static final ResolvableType ROOT = ResolvableType.forClass(KeyEvaluationRoot.class);

	private final Method method;

	private final KeyVariables variables;

	private final List<String> missing = new ArrayList<>();

	KeyTypes(Method method, KeyVariables variables) {
		this.method = method;
		this.variables = variables;
	}

	/**
	 * Return sentences about members that the declared types do not have.
	 */
	List<String> missingIn(SpelNode expression) {
		try {
			typeOf(expression, ROOT);
		}
		catch (LinkageError | TypeNotPresentException ex) {
			// The class refers to classes that are missing from this application
			return List.of();
		}
		return this.missing;
	}

	/**
	 * Return whether the declared type of an expression stands for several values.
	 */
	boolean isSeveral(SpelNode expression) {
		SpelNode last = (expression instanceof CompoundExpression) ? expression.getChild(expression.getChildCount() - 1)
				: expression;
		if (last instanceof Projection || last instanceof InlineList) {
			return true;
		}
		try {
			Class<?> type = typeOf(expression, ROOT).resolve();
			return type != null && (type.isArray() || Collection.class.isAssignableFrom(type)
					|| BaseStream.class.isAssignableFrom(type));
		}
		catch (LinkageError | TypeNotPresentException ex) {
			return false;
		}
	}

	/** The properties of an object of type {@code current} are named without a prefix. */
	private ResolvableType typeOf(SpelNode node, ResolvableType current) {
		if (node instanceof CompoundExpression) {
			ResolvableType type = typeOf(node.getChild(0), current);
			for (int i = 1; i < node.getChildCount(); i++) {
				type = member(node.getChild(i), type, current);
			}
			return type;
		}
		return (node instanceof VariableReference) ? variable(node, current) : member(node, current, current);
	}

	private ResolvableType variable(SpelNode node, ResolvableType current) {
		int index = this.variables.parameterIndex(node);
		if (index >= 0) {
			return ResolvableType.forMethodParameter(this.method, index);
		}
		return switch (node.toStringAST()) {
			case "#this" -> current;
			case "#root" -> ROOT;
			default -> UNKNOWN;
		};
	}

	private ResolvableType member(SpelNode node, ResolvableType owner, ResolvableType current) {
		if (node instanceof PropertyOrFieldReference property) {
			return property(property, owner);
		}
		if (node instanceof MethodReference call) {
			checkChildren(node, 0, 1, current);
			return method(call, owner);
		}
		if (node instanceof Indexer) {
			// A bare word is the key of an entry
			if (!(node.getChild(0) instanceof PropertyOrFieldReference)) {
				typeOf(node.getChild(0), current);
			}
			return element(owner);
		}
		if (node instanceof Projection || node instanceof Selection) {
			typeOf(node.getChild(0), element(owner));
			return UNKNOWN;
		}
		boolean entries = node instanceof InlineMap;
		checkChildren(node, entries ? 1 : 0, entries ? 2 : 1, current);
		return UNKNOWN;
	}

	private void checkChildren(SpelNode node, int first, int step, ResolvableType current) {
		for (int i = first; i < node.getChildCount(); i += step) {
			typeOf(node.getChild(i), current);
		}
	}

	private ResolvableType property(PropertyOrFieldReference property, ResolvableType owner) {
		boolean unwrapped = property.isNullSafe() && owner.resolve() == Optional.class;
		Class<?> type = concreteClass(unwrapped ? owner.getGeneric() : owner);
		if (type == null) {
			return UNKNOWN;
		}
		ResolvableType result = ClassProperties.typeOf(property.getName(), type);
		if (result == null) {
			List<String> names = ClassProperties.names(type);
			this.missing.add(nameOf(type) + " has no property '" + property.getName() + "'; it has "
					+ (names.isEmpty() ? "none" : String.join(", ", names)));
			return UNKNOWN;
		}
		return result;
	}

	private ResolvableType method(MethodReference call, ResolvableType owner) {
		Class<?> type = concreteClass(owner);
		if (type == null || (call.isNullSafe() && type == Optional.class)) {
			return UNKNOWN;
		}
		List<Method> methods = Arrays.stream(type.getMethods())
			.filter((method) -> method.getName().equals(call.getName()))
			.toList();
		if (methods.isEmpty()) {
			this.missing.add(nameOf(type) + " has no public method '" + call.getName() + "'");
		}
		return (methods.size() == 1) ? ResolvableType.forMethodReturnType(methods.get(0)) : UNKNOWN;
	}

	private static ResolvableType element(ResolvableType type) {
		if (type.isArray()) {
			return type.getComponentType();
		}
		Class<?> raw = type.resolve();
		return (raw != null && Collection.class.isAssignableFrom(raw) && raw.getPackageName().equals("java.util"))
				? type.getGeneric() : UNKNOWN;
	}

	/**
	 * Return the class that has all members of a value, or {@code null} if there may be
	 * more.
	 */
	private static @Nullable Class<?> concreteClass(ResolvableType type) {
		Type declared = type.getType();
		boolean isClass = declared instanceof Class || declared instanceof ParameterizedType || type.isArray();
		Class<?> raw = isClass ? type.resolve() : null;
		if (raw == null || raw == void.class || raw == Object.class || raw == Class.class) {
			return null;
		}
		if (raw.isPrimitive() || raw.isArray()) {
			return ClassUtils.resolvePrimitiveIfNecessary(raw);
		}
		return (Modifier.isAbstract(raw.getModifiers()) || Map.class.isAssignableFrom(raw)) ? null : raw;
	}

	private static String nameOf(Class<?> type) {
		return (type == KeyEvaluationRoot.class) ? "#root" : type.getSimpleName();
	}

}
