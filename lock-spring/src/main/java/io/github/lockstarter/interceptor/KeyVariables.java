// SPDX-License-Identifier: Apache-2.0

package io.github.lockstarter.interceptor;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Elvis;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Operator;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.StringLiteral;
import org.springframework.expression.spel.ast.Ternary;
import org.springframework.expression.spel.ast.VariableReference;

/**
 * The references that a key expression may use: the parameters of its method and the
 * properties of {@link KeyEvaluationRoot}.
 */
final class KeyVariables {

	static final ParameterNameDiscoverer parameterNames = new DefaultParameterNameDiscoverer();

	static final Pattern REFERENCE = Pattern.compile("#([\\w$]+)");

	private static final Set<String> ROOT_PROPERTIES = Set.of("method", "target", "args");

	private final Method method;

	private final @Nullable String @Nullable [] names;

	KeyVariables(Method method) {
		this.method = method;
		this.names = parameterNames.getParameterNames(method);
	}

	/**
	 * Return the references that no call can resolve.
	 */
	List<String> unknownIn(SpelNode expression) {
		List<String> unknown = new ArrayList<>();
		collectVariables(expression, unknown);
		collectRootProperties(expression, unknown);
		return unknown;
	}

	/**
	 * Return how to write the first text in quotes that mentions parameters, which are
	 * not evaluated there, or {@code null} if there is none.
	 */
	@Nullable String unquotedIn(SpelNode node) {
		if (node instanceof StringLiteral literal) {
			String quoted = "'" + literal.getLiteralValue().getValue() + "'";
			String unquoted = REFERENCE.matcher(quoted)
				.replaceAll((reference) -> Matcher.quoteReplacement(
						isParameter(reference.group(1)) ? "' + " + reference.group() + " + '" : reference.group()));
			return unquoted.equals(quoted) ? null : unquoted.replace("'' + ", "").replace(" + ''", "");
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			String unquoted = unquotedIn(node.getChild(i));
			if (unquoted != null) {
				return unquoted;
			}
		}
		return null;
	}

	/**
	 * Return the index of the parameter if the expression consists of one, or -1.
	 */
	int parameterIndex(SpelNode expression) {
		return (expression instanceof VariableReference variable) ? parameterIndex(nameOf(variable)) : -1;
	}

	/**
	 * Return whether a variable is a parameter of the method.
	 */
	boolean isParameter(String variable) {
		return parameterIndex(variable) >= 0;
	}

	/**
	 * Return advice on the possible references.
	 */
	String advice() {
		if (this.names == null) {
			return "The class was compiled without parameter names: compile it with -parameters, or use #p0, #p1, …";
		}
		if (this.names.length == 0) {
			return "The method has no parameters.";
		}
		String parameters = "The parameters are: #" + String.join(", #", this.names) + ".";
		return (LockAnnotations.inheritedFrom(this.method) instanceof Method)
				? parameters + " Name them as in the method that declares the annotation, or use #p0, #p1, …"
				: parameters;
	}

	private void collectVariables(SpelNode node, List<String> unknown) {
		if (node instanceof VariableReference variable && !isKnown(nameOf(variable))) {
			unknown.add(variable.toStringAST());
		}
		else if (node instanceof FunctionReference function) {
			unknown.add(function.toStringAST());
		}
		for (int i = 0; i < node.getChildCount(); i++) {
			collectVariables(node.getChild(i), unknown);
		}
	}

	/** A parameter without its # would be a property of the root. */
	private void collectRootProperties(SpelNode node, List<String> unknown) {
		if (node instanceof PropertyOrFieldReference property) {
			if (!ROOT_PROPERTIES.contains(property.getName())) {
				unknown.add(property.getName());
			}
		}
		else if (node instanceof CompoundExpression) {
			collectRootProperties(node.getChild(0), unknown);
		}
		else if (node instanceof Operator || node instanceof Ternary || node instanceof Elvis) {
			for (int i = 0; i < node.getChildCount(); i++) {
				collectRootProperties(node.getChild(i), unknown);
			}
		}
	}

	private boolean isKnown(String variable) {
		return variable.equals("root") || variable.equals("this") || isParameter(variable);
	}

	private int parameterIndex(String variable) {
		for (int i = 0; i < this.method.getParameterCount(); i++) {
			if (variable.equals("p" + i) || variable.equals("a" + i)
					|| (this.names != null && variable.equals(this.names[i]))) {
				return i;
			}
		}
		return -1;
	}

	private static String nameOf(VariableReference variable) {
		return variable.toStringAST().substring(1);
	}

}
