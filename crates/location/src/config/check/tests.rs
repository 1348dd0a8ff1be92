use serde_json::json;

use super::*;

/// Formats each problem as one line.
fn lines(config: Value) -> Vec<String> {
    let line = |problem: ConfigurationProblem| format!("{} {}", problem.path, problem.message);
    problems(&config).into_iter().map(line).collect()
}

#[test]
fn valid_values_have_no_problems() {
    for config in [
        json!({}),
        json!({"$schema": "https://h/config.json", "theme": "dark", "plugin": [{"any": 1}], "tui": {"x": 1}}),
        json!({"model": "a/b#high", "small_model": {"providerID": "a", "id": "b"}}),
        json!({"agent": {"a": {"temperature": 0.5, "thinking": {"type": "enabled"}, "options": {"x": {"y": 1}}}}}),
        json!({"agents": {"a": {"request": {"headers": {"x-a": "b"}, "body": {"any": {"thing": 1}}}}}}),
        json!({"permission": "ask", "tools": {"anything": false}}),
        json!({"permission": {"anything": "ask", "bash": {"git *": "allow"}}}),
        json!({"skills": ["a"]}),
        json!({"skills": {"paths": ["a"], "urls": []}}),
        json!({"references": {"a": "owner/name", "b": {"path": "/x", "hidden": true}}}),
        json!({"mcp": {"a": {"type": "local", "command": ["x"], "environment": {"A": "b"}, "timeout": 5}}}),
        json!({"mcp": {"servers": {"a": {"type": "remote", "url": "https://h"}}, "timeout": {"startup": 1}}}),
        json!({"provider": {"p": {"options": {"baseURL": "http://h", "own": {"x": 1}}, "models": {"m": {
            "tool_call": true, "attachment": false, "cost": {"input": 1, "output": 2, "tiers": [
                {"input": 1, "output": 2, "tier": {"type": "context", "size": 5}}]},
            "interleaved": {"field": "reasoning"}, "variants": {"v": {"any": {"x": 1}}}}}}}}),
        json!({"providers": {"p": {"models": {"m": {"cost": [{"input": 1, "output": 2, "tier": {"size": 3}}],
            "api": {"settings": {"any": {"x": 1}}}, "variants": [{"id": "v", "body": {"x": 1}}]}}}}}),
        json!({"experimental": {"policies": [{"action": "provider.use", "effect": "deny", "resource": "*"}]}}),
    ] {
        assert_eq!(lines(config.clone()), [""; 0], "{config}");
    }
}

#[test]
fn a_wrong_value_is_reported_by_its_path() {
    for (config, expected) in [
        (json!([]), " must be an object"),
        (
            json!({"permission": {"bash": "never"}}),
            "permission.bash must be \"allow\", \"deny\" or \"ask\"",
        ),
        (
            json!({"compaction": {"auto": "yes"}}),
            "compaction.auto must be true or false, found a string",
        ),
        (
            json!({"permissions": [{"action": "bash", "resource": "*"}]}),
            "permissions[0].effect is missing",
        ),
        (
            json!({"instructions": ["a", 5]}),
            "instructions[1] must be a string, found a number",
        ),
        (
            json!({"model": "gpt"}),
            "model must have the form provider/model or provider/model#variant",
        ),
        (
            json!({"provider": {"p": {"models": {"m": {"status": "done"}}}}}),
            "provider.p.models.m.status must be \"alpha\" or \"beta\" or \"deprecated\" or \"active\"",
        ),
        (
            json!({"experimental": {"policies": [{"action": "provider.used", "effect": "deny", "resource": "*"}]}}),
            "experimental.policies[0].action must be \"provider.use\"",
        ),
        (
            json!({"default_agent": null}),
            "default_agent must be a string, found null",
        ),
    ] {
        assert_eq!(lines(config.clone()), [expected], "{config}");
    }
}

#[test]
fn an_unknown_name_is_reported_in_every_closed_object() {
    for (config, expected) in [
        (
            json!({"permision": {}}),
            "permision is unknown. Did you mean permission?",
        ),
        (
            json!({"zzz": 1}),
            "zzz is unknown. The type OpenCodeConfig lists what is known here",
        ),
        (
            json!({"compaction": {"atuo": true}}),
            "compaction.atuo is unknown. Did you mean auto?",
        ),
        (
            json!({"compaction": {"keep": {"token": 5}}}),
            "compaction.keep.token is unknown. Did you mean tokens?",
        ),
        (
            json!({"tool_output": {"lines": 5}}),
            "tool_output.lines is unknown. Did you mean max_lines?",
        ),
        (
            json!({"attachments": {"image": {"width": 5}}}),
            "attachments.image.width is unknown. Did you mean max_width?",
        ),
        (
            json!({"attachments": {"video": {}}}),
            "attachments.video is unknown. Known here: image",
        ),
        (
            json!({"agents": {"build": {"prompt": "x"}}}),
            "agents.build.prompt is unknown. Known here: model, variant, request, system, description, mode, hidden, color, steps, disabled, permissions",
        ),
        (
            json!({"agents": {"build": {"permissions": [{"action": "a", "resource": "b", "effect": "ask", "reason": "c"}]}}}),
            "agents.build.permissions[0].reason is unknown. Known here: action, resource, effect",
        ),
        (
            json!({"agent": {"build": {"request": {"header": {}}}}}),
            "agent.build.request.header is unknown. Did you mean headers?",
        ),
        (
            json!({"providers": {"p": {"options": {}}}}),
            "providers.p.options is unknown. Known here: name, api, request, env, whitelist, blacklist, models",
        ),
        (
            json!({"provider": {"p": {"baseURL": "http://h"}}}),
            "provider.p.baseURL is unknown. Known here: id, name, npm, api, options, env, whitelist, blacklist, models",
        ),
        (
            json!({"provider": {"p": {"models": {"m": {"toolcall": false}}}}}),
            "provider.p.models.m.toolcall is unknown. Did you mean tool_call?",
        ),
        (
            json!({"providers": {"p": {"models": {"m": {"cost": [{"input": 1, "output": 2, "caches": {}}]}}}}}),
            "providers.p.models.m.cost[0].caches is unknown. Did you mean cache?",
        ),
        (
            json!({"mcp": {"a": {"type": "local", "command": ["x"], "env": {}}}}),
            "mcp.a.env is unknown. Did you mean environment?",
        ),
        (
            json!({"mcp": {"servers": {"a": {"type": "remote", "url": "https://h", "header": {}}}}}),
            "mcp.servers.a.header is unknown. Did you mean headers?",
        ),
        (
            json!({"commands": {"c": {"templates": "x"}}}),
            "commands.c.templates is unknown. Did you mean template?",
        ),
        (
            json!({"references": {"r": {"path": "/x", "hiden": true}}}),
            "references.r.hiden is unknown. Did you mean hidden?",
        ),
        (
            json!({"experimental": {"policy": []}}),
            "experimental.policy is unknown. Known here: policies, mcp_timeout, subagent_depth",
        ),
        (
            json!({"watcher": {"ignored": []}}),
            "watcher.ignored is unknown. Did you mean ignore?",
        ),
        (
            json!({"model": {"providerID": "a", "id": "b", "varaint": "c"}}),
            "model.varaint is unknown. Did you mean variant?",
        ),
        (
            json!({"skills": {"path": []}}),
            "skills.path is unknown. Did you mean paths?",
        ),
    ] {
        assert_eq!(lines(config.clone()), [expected], "{config}");
    }
}

#[test]
fn all_problems_are_reported_in_the_order_of_the_document() {
    let config = json!({
        "tool_output": {"max_lines": 0, "max_chars": 1},
        "permision": "deny",
        "permission": {"bash": "no"},
    });
    let paths: Vec<_> = problems(&config).into_iter().map(|it| it.path).collect();
    let expected = [
        "tool_output.max_lines",
        "tool_output.max_chars",
        "permision",
        "permission.bash",
    ];
    assert_eq!(paths, expected);
}
